"""The methods that users have outside `ldlf`, each with its settings: what accuracy.py runs."""

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy
from boosted import grow_catboost, grow_lightgbm, grow_xgboost
from chosen import Array, Chosen, Fixed, Predict, Rows, Settings

Method = Chosen | Fixed


def lightgbm() -> Method:
    return Chosen(grow_lightgbm,
                  {"learning_rate": 0.05, "feature_fraction": 0.3, "bagging_fraction": 0.8, "bagging_freq": 1,
                   "min_data_in_leaf": 5, "lambda_l2": 1.0, "max_bin": 63},
                  [{"num_leaves": 4}, {"num_leaves": 31}])


def xgboost() -> Method:
    return Chosen(grow_xgboost,
                  {"eta": 0.1, "subsample": 0.8, "colsample_bytree": 0.2, "lambda": 1.0, "max_bin": 32},
                  [{"max_depth": 3}, {"max_depth": 6}])


def catboost() -> Method:
    return Chosen(grow_catboost,
                  {"loss_function": "MultiCrossEntropy", "learning_rate": 0.1, "rsm": 0.2, "border_count": 32},
                  [{"depth": 5}])


def scikit_learn_forest(kind: str, feature_share: float) -> Callable[[], Method]:
    def grow(setting: Settings, training: Rows, seed: int, **_: Any) -> tuple[None, Predict]:
        from sklearn import ensemble

        model = getattr(ensemble, kind)(**setting, n_jobs=1, random_state=seed)
        model.fit(training.features, training.targets)
        return None, model.predict

    return lambda: Fixed(grow, {"n_estimators": 200, "min_samples_leaf": 3, "max_features": feature_share})


def pyldl(name: str) -> Callable[[], Method]:
    """A method of PyLDL at its defaults; its features as they are or standardised, whichever is better on held-back rows."""

    def grow(setting: Settings, training: Rows, seed: int, **_: Any) -> tuple[None, Predict]:
        from sklearn.preprocessing import StandardScaler

        stand_in_for_compiled_parts()
        import pyldl.algorithms

        scaler = StandardScaler(with_mean=setting["standardise"], with_std=setting["standardise"])
        numpy.random.seed(seed)
        model = getattr(pyldl.algorithms, name)(random_state=seed)
        model.fit(scaler.fit_transform(dense(training.features)), training.targets)
        return None, lambda features: model.predict(scaler.transform(dense(features)))

    return lambda: Chosen(grow, {}, [{"standardise": False}, {"standardise": True}])


def stand_in_for_compiled_parts() -> None:
    """PyLDL is published without the compiled modules that two methods beside DF-LDL need, and DF-LDL's file imports them."""
    for module, names in {"_tree": ["_Node", "best_split"], "_rbm": ["train_rbm"]}.items():
        stand_in = types.ModuleType(f"pyldl.algorithms.{module}")
        vars(stand_in).update(dict.fromkeys(names))
        sys.modules.setdefault(stand_in.__name__, stand_in)


def dense(features: Any) -> Array:
    return numpy.asarray(features if isinstance(features, numpy.ndarray) else features.toarray(), dtype=numpy.float64)


# The name in the results, the library as it is published, and what makes the method.
METHODS: dict[str, tuple[str, Callable[[], Method]]] = {
    "lightgbm": ("lightgbm", lightgbm),
    "xgboost": ("xgboost-cpu", xgboost),
    "catboost": ("catboost", catboost),
    "sklearn-random-forest": ("scikit-learn", scikit_learn_forest("RandomForestRegressor", 0.2)),
    "sklearn-extra-trees": ("scikit-learn", scikit_learn_forest("ExtraTreesRegressor", 0.5)),
    "pyldl-sa-bfgs": ("python-ldl", pyldl("SA_BFGS")),
    "pyldl-aa-knn": ("python-ldl", pyldl("AA_KNN")),
    "pyldl-ldsvr": ("python-ldl", pyldl("LDSVR")),
    "pyldl-bd-ldl": ("python-ldl", pyldl("BD_LDL")),
    "pyldl-ldllc": ("python-ldl", pyldl("LDLLC")),
    "pyldl-ldl-lrr": ("python-ldl", pyldl("LDL_LRR")),
    "pyldl-df-ldl": ("python-ldl", pyldl("DF_LDL")),
    "pyldl-ldl-dpa": ("python-ldl", pyldl("LDL_DPA")),
    "pyldl-ldl-scl": ("python-ldl", pyldl("LDL_SCL")),
    "pyldl-ldlf": ("python-ldl", pyldl("LDLF")),
}
