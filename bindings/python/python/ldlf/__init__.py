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

from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from ._base import LDLEstimator as LDLEstimator
    from ._base import Progress as Progress
    from ._classifier import LDLForestClassifier as LDLForestClassifier
    from ._deep_estimators import *  # noqa: F403
    from ._deep_estimators import DEEP_LEARNERS as DEEP_LEARNERS
    from ._distribution import LabelDistribution as LabelDistribution
    from ._estimators import *  # noqa: F403
    from ._estimators import LEARNERS as LEARNERS
    from ._explain import Explanation as Explanation
    from ._files import load as load
    from ._regressor import LDLForestRegressor as LDLForestRegressor

#: Imported when they are first used: the command needs none of them, and some need more than NumPy and scikit-learn.
_SUBMODULES = ("dask", "datasets", "measures", "pipeline", "plot", "scorers", "torch")

#: Where a name is, if not among the estimators.
_HOMES = {
    "DEEP_LEARNERS": "_deep_estimators",
    "DeepLDL": "_deep_estimators",
    "DeepLDLForest": "_deep_estimators",
    "DeepNeuralDecisionForestLDL": "_deep_estimators",
    "Explanation": "_explain",
    "LDLEstimator": "_base",
    "LDLForestClassifier": "_classifier",
    "LDLForestRegressor": "_regressor",
    "LEARNERS": "_estimators",
    "LabelDistribution": "_distribution",
    "Progress": "_base",
    "load": "_files",
}

#: Acronyms that learners were called by, and still go by in the literature and in the command.
_FORMER = {
    "AABP": "aa-bp",
    "AAKNN": "aa-knn",
    "AAS": "aas",
    "AOSOLDLogitBoost": "aoso-ldlogitboost",
    "BFGSLDL": "bfgs-ldl",
    "CPNN": "cpnn",
    "D2LDL": "d2ldl",
    "IISALDL": "iis-aldl",
    "IISLDL": "iis-ldl",
    "LARR": "larr",
    "LDSVR": "ldsvr",
    "PTBayes": "pt-bayes",
    "PTSVM": "pt-svm",
    "SCELDL": "sce-ldl",
    "SNDFLDL": "sndf-ldl",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _FORMER:
        from warnings import warn

        found = import_module(f"{__name__}._estimators").LEARNERS[_FORMER[name]]
        warn(f"ldlf.{name} is now called ldlf.{found.__name__}", DeprecationWarning, stacklevel=2)
        return found
    if name in _SUBMODULES or (name.startswith("_") and not name.startswith("__")):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    if name == "__all__":
        return [*_HOMES, *import_module(f"{__name__}._estimators").__all__, "__version__"]
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOMES.get(name, '_estimators')}")
    if name in _HOMES or name in home.__all__:
        found = globals()[name] = getattr(home, name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *__getattr__("__all__")})
