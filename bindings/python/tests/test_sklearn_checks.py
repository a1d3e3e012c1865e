"""scikit-learn's own checks of estimators, on all of ours."""

from quick import every_estimator
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.estimator_checks import parametrize_with_checks

# Why a check cannot hold. An exception that is no longer needed fails the test (xfail_strict).
PREDICT = "predict gives the distribution, of shape (rows, labels); the check expects one value a row"
BATCHES = "each mini-batch is drawn from the rows: a row of weight 2 is not drawn twice as often"
HELD_OUT = "some rows are drawn to be held out or left out, and a row of weight 2 is one row of them"
FOLDS = "a parameter is chosen on folds of the rows, and two copies of a row may be in different folds"
NEIGHBOURS = "the k nearest rows are counted, and a row of weight 2 is one of them, not two"
# Forests and networks with full batches, and learners without held-out rows, are in test_weights.py: there a row of weight 2 is two
# rows up to the rounding of single precision, which is more than these checks allow.
WEIGHTS = {
    "NeuralNetworkLDL": BATCHES,
    "KNeighborsLDL": NEIGHBOURS,
    "AdaptiveLDLogitBoost": HELD_OUT,
    "AdaptiveIterativeScalingLDL": HELD_OUT,
    "IterativeScalingLDL": HELD_OUT,
    "LocallyAdjustedRegressor": HELD_OUT,
    "KernelRidgeLDL": FOLDS,
    "LDLForest": BATCHES,
    "LDLForestAuto": FOLDS,
    "LDLForestClassifier": BATCHES,
    "LDLForestRegressor": BATCHES,
    "LDLogitBoost": HELD_OUT,
    "SupportVectorLDL": FOLDS,
    "PairwiseSVMLDL": FOLDS,
    "NeuralDecisionForestLDL": BATCHES,
}


def expected_failures(estimator):
    name = type(estimator).__name__
    expected = {}
    if hasattr(estimator, "predict_proba") and not is_classifier(estimator) and not is_regressor(estimator):
        expected |= {"check_estimator_sparse_array": PREDICT, "check_estimator_sparse_matrix": PREDICT}
    if name in WEIGHTS:
        kinds = ("dense", "sparse")
        expected |= {f"check_sample_weight_equivalence_on_{kind}_data": WEIGHTS[name] for kind in kinds}
    return expected


@parametrize_with_checks(every_estimator(), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
