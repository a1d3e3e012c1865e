"""Small data, and the command line whose models must be ours."""

import os
import subprocess
from pathlib import Path

# Before SciPy is imported: without it scikit-learn skips its checks of array API inputs.
os.environ["SCIPY_ARRAY_API"] = "1"

import matplotlib
import numpy as np
import pytest
from ldlf.datasets import make_mixture

matplotlib.use("Agg")

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture
def votes():
    """Two hundred rows of six features, and ten votes each on four labels."""
    return make_mixture(200, features=6, labels=4, votes=10)


@pytest.fixture
def distributions():
    """Two hundred rows of six features, and distributions over four labels."""
    return make_mixture(200, features=6, labels=4)


@pytest.fixture
def ages():
    """Rows with an age each, which the first feature tells roughly."""
    X, _ = make_mixture(300, features=3, labels=2)
    noise = np.random.default_rng(0).normal(scale=2.0, size=len(X))
    return X, np.clip(np.round(30 + 10 * X[:, 0] + noise), 15, 45)


@pytest.fixture(scope="session")
def command():
    """Runs the command line: the one named by LDLF_COMMAND, or the build of this repository."""
    built = [REPOSITORY / "target" / profile / "ldlf" for profile in ("debug", "release")]
    found = [path for path in [os.environ.get("LDLF_COMMAND"), *built] if path and Path(path).is_file()]
    if not found:
        pytest.skip("the command line is not built; run cargo build first")

    def run(*arguments):
        return subprocess.run([str(found[0]), *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    return run
