"""Work in the background: other threads run, Ctrl-C works, callbacks are called, nothing leaks or prints."""

import subprocess
import sys
import textwrap
import threading
import time

import pytest
from ldlf import LDLForest, Progress
from ldlf.datasets import make_mixture
from quick import quick


def test_other_threads_go_on_during_a_fit():
    X, y = make_mixture(4000, features=40)
    forest = LDLForest(trees=20, depth=6, min_iterations=150, epochs=1, early_stopping=False)
    turns, done = 0, threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    forest.fit(X, y)
    took = time.monotonic() - start
    done.set()
    thread.join()
    assert turns > 100 * took, f"{turns} turns in {took:.2f} s"


# Interrupts itself as soon as the fit runs, so that no machine is fast enough to finish first.
LONG_FIT = """
    import os, signal, sys, threading
    from ldlf import {name}
    from ldlf.datasets import make_mixture
    X, y = make_mixture({rows}, features=60)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        {name}({parameters}).fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(42)
    print("finished", flush=True)
"""


@pytest.mark.parametrize(
    ("name", "rows", "parameters"),
    [
        ("LDLForest", 20_000, "min_iterations=10**6, iterations=10**6, early_stopping=False"),
        # Searches long before it tells of a first iteration.
        ("SupportVectorLDL", 12_000, "search_rows=12_000"),
        ("KNeighborsLDL", 200_000, "n_jobs=1"),
    ],
)
def test_ctrl_c_is_heard_long_before_the_fit_ends(name, rows, parameters):
    code = textwrap.dedent(LONG_FIT.format(name=name, rows=rows, parameters=parameters))
    # A busy machine may take its time; a fit that is not interrupted says "finished", minutes later.
    process = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=120)
    assert (process.stdout, process.returncode) == ("interrupted\n", 42)


def test_a_callback_hears_of_everything_and_can_end_the_fit(distributions):
    heard = []

    def callback(progress):
        heard.append(progress)
        return progress.event == "iteration" and progress.iteration == 60

    forest = LDLForest(choose=False, leave_out=0, trees=3, depth=3, min_iterations=500, epochs=1, leaf_every=25)
    forest.fit(*distributions, callback=callback)
    assert forest.n_iter_ == 60 and forest.stopped_ == "interrupted"
    assert heard[0] == Progress("iteration", 1, 500, heard[0].loss) and heard[0].loss > 0
    assert [p.iteration for p in heard if p.event == "leaf_update"] == [25, 50]
    assert all(p.kl > 0 for p in heard if p.event == "validation")


def test_an_exception_in_a_callback_comes_out(distributions):
    def callback(progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        quick(LDLForest).fit(*distributions, callback=callback)


def test_a_silent_callback_does_not_change_the_model(distributions):
    assert (
        quick(LDLForest).fit(*distributions, callback=lambda progress: None).to_bytes()
        == quick(LDLForest).fit(*distributions).to_bytes()
    )


def test_nothing_prints_unless_verbose(distributions, capfd):
    quick(LDLForest).fit(*distributions)
    assert capfd.readouterr() == ("", "")
    quick(LDLForest, verbose=True).fit(*distributions)
    out, err = capfd.readouterr()
    assert out == "" and "100/100" in err and "loss" in err


def test_without_tqdm_verbose_prints_lines(distributions, capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    quick(LDLForest, verbose=True).fit(*distributions)
    assert "iteration 100 of 100 loss" in capfd.readouterr().err


MANY_FITS = """
    import gc
    from ldlf import LDLForest
    from ldlf.datasets import make_mixture

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    X, y = make_mixture(2000, features=50)
    forest = LDLForest(trees=5, depth=4, min_iterations=10, epochs=1, n_jobs=2)

    def fits(count):
        for _ in range(count):
            forest.fit(X, y).predict(X)

    fits(20)
    before = resident()
    fits(100)
    print(resident() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory in use from /proc")
def test_a_hundred_fits_do_not_grow():
    code = textwrap.dedent(MANY_FITS)
    grown = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    # One copy of the features is 400 kB: a leak of any of them would be 40 MB. What the allocator keeps varies by some MB.
    assert grown < 20_000_000, grown
