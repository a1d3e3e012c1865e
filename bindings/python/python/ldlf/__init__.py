"""Learn and predict label distributions: for every row, how much each label applies.

The flagship is :class:`LDLForest`, the label distribution learning forest (Shen, Zhao, Guo, Yuille, NIPS 2017); its baselines stand
beside it behind the same scikit-learn interface.

>>> from ldlf import LDLForest
>>> from ldlf.datasets import make_mixture
>>> X, votes = make_mixture(300, votes=30)
>>> forest = LDLForest(trees=5, depth=4, min_iterations=100, epochs=1).fit(X, votes)
>>> forest.predict(X[:2]).shape
(2, 5)
"""

from typing import Any

from ._base import LDLEstimator, Progress
from ._classifier import LDLForestClassifier
from ._distribution import LabelDistribution
from ._estimators import *  # noqa: F403
from ._estimators import LEARNERS
from ._estimators import __all__ as _estimator_names
from ._files import load
from ._regressor import LDLForestRegressor
from ._version import __version__

__all__ = [
    "LDLEstimator",
    "LDLForestClassifier",
    "LDLForestRegressor",
    "LEARNERS",
    "LabelDistribution",
    "Progress",
    "__version__",
    "load",
    *_estimator_names,
]

#: Imported when they are first used: some need more than NumPy and scikit-learn.
_SUBMODULES = ("dask", "datasets", "measures", "plot", "scorers", "torch")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
