"""Boosted trees from outside for label distributions: LightGBM, XGBoost and CatBoost, one thread each.

LightGBM and XGBoost grow one tree a label and round on the soft cross-entropy; CatBoost's trees serve all labels at once.
"""

from collections.abc import Callable
from typing import Any

import numpy
from chosen import Array, Predict, Rows, Settings
from measures import mean_kl
from scipy.special import expit, softmax

ROUNDS = 500
PATIENCE = 25
SMALLEST_HESSIAN = 1e-6
SMALLEST_SHARE = 1e-6


def soft_cross_entropy(targets: Array, factor: float) -> Callable[[Array, Any], tuple[Array, Array]]:
    """Gradient `p - d` and the diagonal `factor p (1 - p)` of the Hessian of `-sum_c d_c ln p_c`, `p = softmax(scores)`."""

    def objective(scores: Array, _: Any) -> tuple[Array, Array]:
        p = softmax(scores, axis=1)
        return p - targets, factor * numpy.maximum(p * (1 - p), SMALLEST_HESSIAN)

    return objective


def starting_scores(targets: Array) -> Array:
    """The logarithm of the mean distribution: without it a custom objective starts at the uniform one."""
    return numpy.log(numpy.maximum(targets.mean(axis=0), SMALLEST_SHARE))


def grow_lightgbm(setting: Settings, training: Rows, seed: int, held: Rows | None = None,
                  rounds: int | None = None) -> tuple[int | None, Predict]:
    import lightgbm

    start, labels = starting_scores(training.targets), training.targets.shape[1]

    def dataset(rows: Rows, reference: lightgbm.Dataset | None = None) -> lightgbm.Dataset:
        count = len(rows.targets)
        return lightgbm.Dataset(rows.features, label=numpy.zeros(count), init_score=numpy.tile(start, (count, 1)),
                                reference=reference)

    # The factor of LightGBM's own multi-class objective.
    objective = soft_cross_entropy(training.targets, labels / (labels - 1))
    parameters = {**setting, "objective": objective, "num_class": labels, "num_threads": 1, "seed": seed,
                  "deterministic": True, "force_col_wise": True, "verbose": -1}
    table = dataset(training)
    watched: dict[str, Any] = {}
    if held is not None:
        watched = {"valid_sets": [dataset(held, table)],
                   "feval": lambda scores, _: ("kl", mean_kl(held.targets, softmax(scores, axis=1)), False),
                   "callbacks": [lightgbm.early_stopping(PATIENCE, verbose=False)]}
    model = lightgbm.train(parameters, table, rounds or ROUNDS, **watched)
    best = model.best_iteration if held is not None else rounds

    def predict(features: Any) -> Array:
        return softmax(start + model.predict(features, raw_score=True, num_iteration=best), axis=1)

    return best, predict


def grow_xgboost(setting: Settings, training: Rows, seed: int, held: Rows | None = None,
                 rounds: int | None = None) -> tuple[int | None, Predict]:
    import xgboost

    start, labels = starting_scores(training.targets), training.targets.shape[1]

    def matrix(features: Any) -> xgboost.DMatrix:
        count = features.shape[0]
        return xgboost.DMatrix(features, label=numpy.zeros(count), base_margin=numpy.tile(start, (count, 1)), nthread=1)

    parameters = {**setting, "num_class": labels, "tree_method": "hist", "nthread": 1, "seed": seed, "verbosity": 0,
                  "disable_default_eval_metric": True}
    watched: dict[str, Any] = {}
    if held is not None:
        watched = {"evals": [(matrix(held.features), "held")], "early_stopping_rounds": PATIENCE, "verbose_eval": False,
                   "custom_metric": lambda scores, _: ("kl", mean_kl(held.targets, softmax(scores, axis=1)))}
    # The factor of XGBoost's own multi-class objective.
    model = xgboost.train(parameters, matrix(training.features), rounds or ROUNDS,
                          obj=soft_cross_entropy(training.targets, 2.0), **watched)
    best = model.best_iteration + 1 if held is not None else rounds

    def predict(features: Any) -> Array:
        return softmax(model.predict(matrix(features), output_margin=True, iteration_range=(0, best)), axis=1)

    return best, predict


def grow_catboost(setting: Settings, training: Rows, seed: int, held: Rows | None = None,
                  rounds: int | None = None) -> tuple[int | None, Predict]:
    """MultiCrossEntropy takes shares as targets, with a sigmoid for each label: the predicted shares are made to sum to 1."""
    from catboost import CatBoost, Pool

    model = CatBoost({**setting, "iterations": rounds or ROUNDS, "thread_count": 1, "random_seed": seed, "verbose": 0,
                      "allow_writing_files": False})
    watched: dict[str, Any] = {}
    if held is not None:
        watched = {"eval_set": Pool(held.features, held.targets), "early_stopping_rounds": PATIENCE}
    model.fit(Pool(training.features, training.targets), **watched)
    best = model.best_iteration_ + 1 if held is not None else rounds

    def predict(features: Any) -> Array:
        shares = expit(model.predict(features, prediction_type="RawFormulaVal", ntree_end=best))
        return shares / shares.sum(axis=1, keepdims=True)

    return best, predict
