"""What is written in Python about the engine is what the engine says."""

import doctest
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import ldlf
import pytest
from ldlf import _engine, measures, scorers

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import generate_estimators  # noqa: E402

MODULES = [
    "ldlf",
    "ldlf._base",
    "ldlf._classifier",
    "ldlf._distribution",
    "ldlf._estimators",
    "ldlf._files",
    "ldlf._regressor",
    "ldlf._tables",
    "ldlf.datasets",
    "ldlf.measures",
    "ldlf.plot",
    "ldlf.scorers",
]


def test_the_estimators_are_generated_from_the_declarations():
    committed = Path(inspect.getfile(ldlf._estimators)).read_text()
    assert committed == generate_estimators.generate(generate_estimators.declared()), "run tools/generate_estimators.py"


def test_every_declared_parameter_is_in_the_signature_with_its_default():
    for entry in json.loads(_engine.describe_learners()):
        if entry["name"] not in ldlf.LEARNERS:  # on a deep network, in a build that has them: tests_deep/
            continue
        signature = inspect.signature(ldlf.LEARNERS[entry["name"]])
        for parameter in entry["parameters"]:
            assert signature.parameters[parameter["name"]].default == parameter["default"], entry["name"]


def test_the_stub_agrees_with_the_engine():
    call = [sys.executable, "-m", "mypy.stubtest", "ldlf._engine", "--concise", "--ignore-disjoint-bases"]
    found = subprocess.run(call, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_every_measure_has_its_function():
    assert {name for name in measures.MEASURES if callable(getattr(measures, name))} == set(measures.MEASURES)


def test_every_measure_has_its_scorer():
    assert {name.removeprefix("neg_") for name in scorers.SCORERS} == set(measures.MEASURES)


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_docstrings_run(module):
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
    assert result.attempted > 0


def test_the_example_in_the_readme_runs():
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.failed == 0 and result.attempted > 0


def test_importing_the_package_needs_neither_torch_nor_matplotlib_nor_tqdm():
    code = "import sys, ldlf, ldlf.scorers, ldlf.datasets, ldlf.plot; print([m for m in ('torch', 'matplotlib', 'tqdm') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_package_is_typed():
    assert (Path(inspect.getfile(ldlf)).parent / "py.typed").exists()
