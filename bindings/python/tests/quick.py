"""Every estimator with parameters that keep a fit short."""

from ldlf import LEARNERS, LDLForestClassifier, LDLForestRegressor

SHORT = {
    "trees": 5,
    "depth": 3,
    "rounds": 20,
    "iterations": 100,
    "epochs": 40,
    "min_iterations": 100,
    "c": 1.0,
    "width": 1.0,
    "baselines": False,
}


#: Settings with which no row is drawn, held out or put into a fold, so that a row of weight 2 is two rows to the last digit.
WITHOUT_DRAWS = {
    "AgeSpecificRegressor": {"clusters": 1, "ranges": 1, "l2": 0.1, "special_l2": 0.1},
    "ConditionalNetworkLDL": {"patience": None},
    "MaximumEntropyLDL": {"l2": 0.1},
    "RandomForestLDL": {"bootstrap": False},
    "RebuiltTargetsLDL": {"mix": 0.0, "l2": 0.1},
    "SparseEncodingLDL": {"iterations": 20, "patience": None},
}


def quick(estimator_class, **parameters):
    """The estimator with those short settings that it has, and others over them."""
    declared = estimator_class._declared
    return estimator_class(**{**{name: SHORT[name] for name in declared if name in SHORT}, **parameters})


def distribution_learners():
    """Every estimator class that predicts distributions."""
    return [cls for cls in LEARNERS.values() if hasattr(cls, "predict_proba")]


def every_estimator():
    """One short estimator of every class."""
    regressor = quick(LDLForestRegressor, iterations=400, min_iterations=400)
    classes = [*LEARNERS.values(), LDLForestClassifier]
    return [*(quick(cls, **WITHOUT_DRAWS.get(cls.__name__, {})) for cls in classes), regressor]
