"""A row of weight 2 counts as two copies of it, once nothing is drawn: full batches, no rows held out, no parameter chosen on folds."""

import ldlf
import numpy as np
import pytest
from quick import WITHOUT_DRAWS
from scipy import sparse

#: Nothing of the fit is drawn by row. SGD, because AdamW divides tiny gradients by their size and so makes much of their rounding.
FOREST = {
    "choose": False,
    "leave_out": 0,
    "early_stopping": False,
    "grown_trees": 0,
    "init": "random",
    "scaling": "standard",
    "optimizer": "sgd",
    "learning_rate": 1.0,
    "weight_decay": 0.0,
    "dropout": 0.0,
    "leaf_prior": 1.0,
    "batch_size": 4096,
    "trees": 3,
    "depth": 3,
    "iterations": 20,
    "epochs": None,
    "min_iterations": 0,
    "leaf_every": 10,
}
FULL_BATCHES = {
    "LDLForest": FOREST,
    "LDLForestClassifier": FOREST,
    "LDLForestRegressor": {**FOREST, "sigma": 1.0},
    "NeuralDecisionForestLDL": FOREST,
    "NeuralNetworkLDL": {"batch_size": 4096, "epochs": 20, "patience": None},
}

#: No rows held out.
WITHOUT_HELD_OUT_ROWS = {
    "AdaptiveIterativeScalingLDL": {"iterations": 20, "patience": None, "rounds": 2},
    "AdaptiveLDLogitBoost": {"rounds": 20, "subsample": 1.0, "max_features": 1.0, "validation_fraction": 0.0},
    "IterativeScalingLDL": {"iterations": 20, "patience": None},
}
SETTINGS = {**FULL_BATCHES, **WITHOUT_HELD_OUT_ROWS, **WITHOUT_DRAWS}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", SETTINGS)
def test_weights_count_as_copies(name, kind):
    generator = np.random.default_rng(0)
    X, y, weights = generator.uniform(size=(20, 8)), generator.integers(3, size=20), generator.integers(5, size=20)
    copies = np.repeat(np.arange(20), weights)
    model = getattr(ldlf, name)(**SETTINGS[name])
    weighted = model.fit(kind(X), y, sample_weight=weights)._predict(kind(X))
    copied = model.fit(kind(X[copies]), y[copies])._predict(kind(X))
    np.testing.assert_allclose(weighted, copied, rtol=2e-5, atol=1e-7)
    plain = model.fit(kind(X), y)._predict(kind(X))
    assert np.abs(weighted - plain).max() > 1e-3, "weights that change nothing show nothing"
