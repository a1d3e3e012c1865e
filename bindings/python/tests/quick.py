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
    return [*(quick(cls) for cls in [*LEARNERS.values(), LDLForestClassifier]), regressor]
