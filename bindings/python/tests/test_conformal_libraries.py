"""Libraries of conformal prediction take the regressor as they take those of scikit-learn."""

import numpy as np
import pytest
from crepes import WrapRegressor
from ldlf import LDLForestRegressor
from ldlf.datasets import make_mixture
from mapie.regression import SplitConformalRegressor
from quick import quick


@pytest.fixture(scope="module")
def parts():
    """Rows to learn from, to calibrate on and to test on, with an age each."""
    X, _ = make_mixture(900, features=3, labels=2)
    age = np.round(30 + 10 * X[:, 0] + np.random.default_rng(0).normal(scale=2.0, size=900))
    return [(X[rows], age[rows]) for rows in (slice(300), slice(300, 600), slice(600, 900))]


def covered(low, high, truth):
    return ((low <= truth) & (truth <= high)).mean()


def test_mapie(parts):
    learn, calibrate, (X, age) = parts
    model = SplitConformalRegressor(quick(LDLForestRegressor), confidence_level=0.9, prefit=False)
    found, intervals = model.fit(*learn).conformalize(*calibrate).predict_interval(X)
    assert found.shape == (300,)
    assert 0.84 < covered(intervals[:, 0, 0], intervals[:, 1, 0], age) < 0.97


def test_crepes(parts):
    learn, calibrate, (X, age) = parts
    model = WrapRegressor(quick(LDLForestRegressor))
    model.fit(*learn)
    model.calibrate(*calibrate)
    low, high = model.predict_int(X, confidence=0.9).T
    assert 0.84 < covered(low, high, age) < 0.97
