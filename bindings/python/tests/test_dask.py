"""Training on a Dask cluster of real processes: the same bytes whoever holds the rows, whatever happens to the workers."""

import doctest
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import dask.array as da
import dask.dataframe as dd
import joblib
import ldlf
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from ldlf._cluster import Workers
from ldlf.dask import LDLForest
from ldlf.datasets import make_mixture
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

pytestmark = pytest.mark.filterwarnings("ignore:Port 8787 is already in use:UserWarning")

SMALL = {
    "trees": 3,
    "depth": 4,
    "batch_size": 150,
    "epochs": 10,
    "min_iterations": 0,
    "leaf_every": 4,
    "leaf_iterations": 3,
    "dropout": 0.1,
    "virtual_shards": 8,
}


def cluster_of(workers):
    return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)


@pytest.fixture(scope="module")
def data():
    """Six hundred rows of six features, and distributions over four labels."""
    return make_mixture(600, features=6, labels=4)


@pytest.fixture(scope="module")
def alone(data):
    """The bytes of the model that one process makes without a cluster."""
    return LDLForest(**SMALL).fit(*data).to_bytes()


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread each."""
    with cluster_of(2) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def chunked(X, y, rows):
    return da.from_array(X, chunks=(rows, 4)), da.from_array(y, chunks=(rows + 13, 2))


def are_free(client):
    """Whether the workers let go of all rows, which they do soon after they were told."""
    end = time.monotonic() + 10
    while any(client.run(lambda dask_worker: len(dask_worker.state.actors)).values()):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(("workers", "rows"), [(1, 90), (2, 600), (4, 37)])
def test_the_bytes_do_not_depend_on_workers_or_partitions(workers, rows, data, alone):
    with cluster_of(workers) as cluster, Client(cluster, set_as_default=False) as client:
        forest = LDLForest(client, **SMALL).fit(*chunked(*data, rows))
        assert forest.to_bytes() == alone
        assert forest.n_iter_ > 20
        assert are_free(client)


def test_the_bytes_depend_on_the_number_of_virtual_shards_and_not_on_threads(data, alone):
    assert LDLForest(**SMALL, n_jobs=2).fit(*data).to_bytes() == alone
    assert LDLForest(**{**SMALL, "virtual_shards": 5}).fit(*data).to_bytes() != alone


def test_more_workers_than_virtual_shards_are_fine(client, data):
    one = {**SMALL, "virtual_shards": 1}
    assert LDLForest(client, **one).fit(*data).to_bytes() == LDLForest(**one).fit(*data).to_bytes()


def test_rows_in_memory_here_are_sent_to_the_workers(client, data, alone):
    assert LDLForest(client, **SMALL).fit(*data).to_bytes() == alone


def frame_of(X, y):
    names = [f"feature {column}" for column in range(X.shape[1])]
    labels = ["bad", "poor", "fair", "good"]
    return pd.DataFrame(np.hstack([X, y]), columns=names + labels), names, labels


def test_tables_are_read_by_the_names_of_their_columns(client, data):
    frame, names, labels = frame_of(*data)
    here = LDLForest(**SMALL).fit(frame[names], frame[labels])
    lazy = dd.from_pandas(frame, npartitions=5)
    there = LDLForest(client, **SMALL).fit(lazy, labels)
    assert there.to_bytes() == here.to_bytes()
    assert list(there.feature_names_in_) == names
    assert list(there.classes_) == labels
    beside = LDLForest(client, **SMALL).fit(lazy[names], lazy[labels])
    assert beside.to_bytes() == here.to_bytes()
    predicted = there.predict(lazy)
    assert list(predicted.columns) == labels
    np.testing.assert_array_equal(predicted.compute(scheduler=client), here.predict(frame[names]))


def test_sparse_rows_stay_sparse(client, data):
    X, y = data
    X = np.where(X > 0.8, X, 0)
    X[:, 0] = data[0][:, 0]
    X = sparse.csr_matrix(X)
    here = LDLForest(**SMALL).fit(X, y)
    blocks = da.from_array(X.toarray(), chunks=(100, -1)).map_blocks(sparse.csr_matrix, dtype=np.float64)
    there = LDLForest(client, **SMALL).fit(blocks, da.from_array(y, chunks=(100, -1)))
    assert there.to_bytes() == here.to_bytes()
    assert there.model_.array("encoder.bin_columns").tolist() == [0]
    assert there.to_bytes() != LDLForest(**SMALL).fit(X.toarray(), y).to_bytes()


def test_weights_and_single_labels_come_in_collections_too(client, data):
    X, y = data
    ages = 20.0 + y.argmax(axis=1)
    weights = np.linspace(0, 2, len(X))
    here = LDLForest(**SMALL, sigma=1.0).fit(X, ages, weights)
    lazy = [da.from_array(array, chunks=100) for array in (ages, weights)]
    there = LDLForest(client, **SMALL, sigma=1.0).fit(da.from_array(X, chunks=(250, 6)), *lazy)
    assert there.to_bytes() == here.to_bytes()
    assert there.classes_.tolist() == [20, 21, 22, 23]
    lazily = there.predict_mean(da.from_array(X, chunks=(250, 6)))
    np.testing.assert_array_equal(lazily.compute(scheduler=client), here.predict_mean(X))


def test_a_worker_killed_in_the_middle_of_a_fit_is_replaced(data, alone):
    with cluster_of(2) as cluster, Client(cluster, set_as_default=False) as client:
        killed = []

        def kill(progress):
            if progress.event == "iteration" and progress.iteration in (5, 21):
                process = next(iter(client.run(os.getpid).values()))
                os.kill(process, signal.SIGKILL)
                killed.append(process)

        forest = LDLForest(client, **SMALL).fit(*chunked(*data, 100), callback=kill)
        assert len(set(killed)) == 2
        assert forest.to_bytes() == alone


def test_a_worker_that_never_comes_back_is_done_without(data, alone):
    cluster = cluster_of(0)
    with cluster, Client(cluster, set_as_default=False) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--no-nanny"]
        workers = [
            subprocess.Popen([*command, "--nthreads", "1", "--no-dashboard"], stderr=subprocess.DEVNULL)
            for _ in range(2)
        ]
        try:
            client.wait_for_workers(2, timeout=60)

            def kill(progress):
                if progress.event == "leaf_update" and progress.iteration == 8:
                    workers[0].kill()

            forest = LDLForest(client, **SMALL).fit(*data, callback=kill)
            assert forest.to_bytes() == alone
            assert len(client.nthreads()) == 1
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def test_a_replacement_that_the_scheduler_has_just_forgotten_is_chosen_anew(data, alone, monkeypatch):
    alive, asked = Workers._alive, []

    def late(self):
        # The second answer, to the replacement of the killed worker, still has one that is gone.
        asked.append(alive(self))
        return {**asked[-1], "tcp://127.0.0.1:1": 1} if len(asked) == 2 else asked[-1]

    monkeypatch.setattr(Workers, "_alive", late)
    with cluster_of(2) as cluster, Client(cluster, set_as_default=False) as client:

        def kill(progress):
            if progress.event == "iteration" and progress.iteration == 5:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        assert LDLForest(client, **SMALL).fit(*data, callback=kill).to_bytes() == alone
    assert len(asked) == 3


def test_two_trainings_at_once_do_not_disturb_each_other(client, data, alone):
    other = {**SMALL, "random_state": 7}
    expected = [alone, LDLForest(**other).fit(*data).to_bytes()]
    found = [b"", b""]

    def fit(place, parameters):
        found[place] = LDLForest(client, **parameters).fit(*chunked(*data, 100)).to_bytes()

    threads = [threading.Thread(target=fit, args=work) for work in [(0, SMALL), (1, other)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert found == expected


def test_ctrl_c_ends_the_fit_and_frees_the_workers(tmp_path):
    script = tmp_path / "long.py"
    script.write_text(
        textwrap.dedent(
            """
            import time
            from distributed import Client, LocalCluster
            from ldlf.dask import LDLForest
            from ldlf.datasets import make_mixture

            if __name__ == "__main__":
                with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
                    forest = LDLForest(client, iterations=10**6, epochs=None, early_stopping=False, trees=2, depth=3)
                    tell = lambda progress: progress.iteration == 3 and print("running", flush=True)
                    try:
                        forest.fit(*make_mixture(500), callback=tell)
                    except KeyboardInterrupt:
                        count = lambda dask_worker: len(dask_worker.state.actors)
                        end = time.monotonic() + 20
                        while sum(client.run(count).values()) and time.monotonic() < end:
                            time.sleep(0.1)
                        print("cancelled, actors left:", sum(client.run(count).values()), hasattr(forest, "model_"), flush=True)
            """
        )
    )
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        line = process.stdout.readline()
        assert line == "running\n", process.stderr.read()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert out == "cancelled, actors left: 0 False\n", err


def test_a_callback_ends_the_fit_with_the_model_so_far(client, data):
    forest = LDLForest(client, **SMALL).fit(*data, callback=lambda progress: progress.iteration == 6)
    assert (forest.n_iter_, forest.stopped_) == (6, "interrupted")
    assert are_free(client)


def test_the_model_is_an_ordinary_one(client, data, tmp_path, command):
    X, y = data
    forest = LDLForest(client, **SMALL).fit(X, y)
    path = tmp_path / "forest.ldlf"
    forest.save(path)
    read = ldlf.load(path)
    assert type(read) is ldlf.LDLForest
    np.testing.assert_array_equal(read.predict(X), forest.predict(X))
    assert "sldlf" in command("inspect", path)


def test_the_forest_learns_as_well_as_in_one_process(data):
    X, y = data
    parameters = {**SMALL, "epochs": 60, "dropout": 0}
    there = LDLForest(**parameters).fit(X[:400], y[:400]).score(X[400:], y[400:])
    parameters.pop("virtual_shards")
    # Shards take the parameters as they are.
    here = ldlf.LDLForest(**parameters, choose=False).fit(X[:400], y[:400]).score(X[400:], y[400:])
    floor = ldlf.MeanLDL().fit(X[:400], y[:400]).score(X[400:], y[400:])
    assert there > floor / 2
    assert abs(there - here) < 0.3 * abs(here)


def test_collections_are_predicted_and_scored_where_they_are(client, data):
    X, y = data
    forest = LDLForest(client, **SMALL).fit(X, y)
    lazy_X, lazy_y = da.from_array(X, chunks=(250, 3)), da.from_array(y, chunks=(250, -1))
    predicted = forest.predict_proba(lazy_X)
    assert predicted.chunks == ((250, 250, 100), (4,))
    np.testing.assert_array_equal(predicted.compute(scheduler=client), forest.predict(X))
    labels = forest.predict_label(lazy_X).compute(scheduler=client)
    np.testing.assert_array_equal(labels, forest.predict_label(X))
    assert forest.score(lazy_X, lazy_y) == pytest.approx(forest.score(X, y), rel=1e-6)
    weights = np.linspace(1, 3, len(X))
    weighted = forest.score(lazy_X, lazy_y, da.from_array(weights, chunks=250))
    assert weighted == pytest.approx(forest.score(X, y, weights), rel=1e-6)
    with pytest.raises(ValueError, match="X and y must have the same partitions to be scored together"):
        forest.score(lazy_X, da.from_array(y, chunks=(200, -1)))


def test_every_answer_about_a_collection_is_lazy_and_by_name(client, data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    forest = LDLForest(client, label_values=[1, 2, 3, 4], **SMALL).fit(frame, y)
    lazy = da.from_array(X, chunks=(250, 3))
    wide = dd.from_pandas(frame.assign(key=1.0)[["key", *"fedcba"]], npartitions=3)
    for method, arguments in [
        ("predict_quantile", {"q": 0.3}),
        ("predict_quantile", {"q": [0.1, 0.9]}),
        ("predict_interval", {"level": 0.9}),
        ("predict_entropy", {}),
        ("predict_std", {}),
        ("predict_log_proba", {}),
    ]:
        expected = getattr(forest, method)(frame, **arguments)
        for rows in (lazy, wide):
            found = getattr(forest, method)(rows, **arguments)
            assert hasattr(found, "dask")
            np.testing.assert_allclose(np.asarray(found.compute(scheduler="sync")), expected, rtol=1e-6)
    drawn = [
        np.asarray(forest.sample(rows, 3, random_state=5).compute(scheduler="sync")) for rows in (lazy, lazy, wide)
    ]
    assert drawn[0].shape == drawn[2].shape == (600, 3)
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0][:250] != drawn[0][250:500]).any(), "partitions have draws of their own"
    with pytest.raises(TypeError, match="predict_dist is of rows in memory"):
        forest.predict_dist(lazy)
    with pytest.raises(ValueError, match="X has no column 'a', which the model needs"):
        forest.predict_mean(wide.drop(columns=["a"]))


def test_a_bad_column_of_a_dask_frame_is_named(client, data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(c="red")
    with pytest.raises(ValueError, match="column 'c' of X holds .*, not numbers"):
        LDLForest(client, **SMALL).fit(dd.from_pandas(frame, npartitions=2), y)
    assert are_free(client)
    holed = pd.DataFrame(with_hole(X), columns=list("abcdef"))
    with pytest.raises(ValueError, match="column 'c' holds nan"):
        LDLForest(client, **SMALL).fit(dd.from_pandas(holed, npartitions=2), y)


def test_searches_run_on_the_workers_through_joblib(client, data):
    X, y = data
    forest = ldlf.LDLForest(trees=2, depth=3, iterations=20, epochs=2, min_iterations=20)
    here = cross_val_score(forest, X, y, cv=3)
    grid = {"depth": [2, 4], "learning_rate": [0.01, 0.05]}
    with client.as_current(), joblib.parallel_config(backend="dask"):
        np.testing.assert_array_equal(cross_val_score(forest, X, y, cv=3), here)
        search = GridSearchCV(forest, grid, cv=2).fit(X, y)
    assert search.best_params_ == GridSearchCV(forest, grid, cv=2).fit(X, y).best_params_


def test_the_manners_are_those_of_scikit_learn(client, data):
    forest = LDLForest(client, trees=3)
    assert clone(forest).client is client
    assert repr(LDLForest(trees=3)) == "LDLForest(trees=3)"
    assert forest.get_params()["batch_size"] == 65536
    with pytest.raises(TypeError, match="LDLForest has no parameter 'leafs'; did you mean 'leaf_rows'?"):
        LDLForest(leafs=3)
    fitted = LDLForest(client, **SMALL).fit(*data)
    revived = pickle.loads(pickle.dumps(fitted))
    assert revived.client is None and revived.to_bytes() == fitted.to_bytes()


def with_hole(X):
    X = X.copy()
    X[410, 2] = np.nan
    return X


@pytest.mark.parametrize(
    ("X", "y", "options", "kind", "sentence"),
    [
        (None, lambda y: y[:500], {}, ValueError, "X has 600 rows, y has 500"),
        (None, lambda y: None, {}, ValueError, "y is missing: give targets, or the names of X's label columns"),
        (None, lambda y: "mood", {}, TypeError, "y names columns, but X has no named columns"),
        (None, None, {"virtual_shards": 0}, ValueError, "virtual_shards must be a whole number of at least 1, got 0"),
        (None, None, {"trees": 0}, ValueError, "trees must be at least 1, got 0"),
        (None, None, {"init": "greedy"}, ValueError, "use init=random here"),
        (None, None, {"client": "tcp://here"}, TypeError, "client must be a distributed.Client or None"),
        (with_hole, None, {}, ValueError, r"rows 375 to 449, counted from 375: X row 35, column 2 holds nan"),
        (
            None,
            lambda y: -y,
            {},
            ValueError,
            "rows 0 to 74, counted from 0: y row 0, label 0: the label .* is negative",
        ),
        (lambda X: X[:, 0], None, {}, ValueError, "X must have two dimensions, got 1"),
    ],
)
def test_what_is_wrong_is_one_sentence(client, data, X, y, options, kind, sentence):
    features, targets = (change(given) if change else given for change, given in zip((X, y), data))
    lazy = [da.from_array(part, chunks=100) if isinstance(part, np.ndarray) else part for part in (features, targets)]
    with pytest.raises(kind, match=sentence):
        LDLForest(**{"client": client, **SMALL, **options}).fit(*lazy)
    assert are_free(client)


def test_a_label_column_that_is_not_there_is_named(client, data):
    frame, names, _ = frame_of(*data)
    with pytest.raises(ValueError, match="X has no column 'mood' to take labels from; it has"):
        LDLForest(client, **SMALL).fit(dd.from_pandas(frame, npartitions=2), ["good", "mood"])


def test_the_examples_in_docstrings_run():
    import ldlf._cluster
    import ldlf.dask

    for module in (ldlf.dask, ldlf._cluster):
        result = doctest.testmod(module)
        assert result.failed == 0 and result.attempted > 0
