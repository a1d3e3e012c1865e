"""Pipelines that answer like their last step: scikit-learn's own pass on ``predict`` and a few others only.

>>> from sklearn.preprocessing import StandardScaler
>>> from ldlf import MaximumEntropyLDL
>>> from ldlf.datasets import make_mixture
>>> from ldlf.pipeline import make_pipeline
>>> X, votes = make_mixture(100, votes=10)
>>> model = make_pipeline(StandardScaler(), MaximumEntropyLDL(l2=0.1, label_values=[1, 2, 3, 4, 5])).fit(X, votes)
>>> model.predict_mean(X).shape, model.predict_interval(X, 0.9).shape
((100,), (100, 2))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn import pipeline
from sklearn.utils.metaestimators import available_if

#: What a pipeline passes on, if its last step has it.
ANSWERS = (
    "predict_label",
    "predict_dist",
    "predict_mean",
    "predict_std",
    "predict_quantile",
    "predict_interval",
    "predict_set",
    "predict_spread",
    "predict_familiarity",
    "predict_entropy",
    "sample",
)


class Pipeline(pipeline.Pipeline):
    """scikit-learn's ``Pipeline`` with the answers of label distributions: ``predict_mean``, ``predict_interval``, ``predict_dist``,
    ``predict_label``, ``sample`` and the like transform X by the steps before and ask the last one, with its other arguments.

    Parameters
    ----------
    steps, memory, verbose
        As of ``sklearn.pipeline.Pipeline``.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def make_pipeline(*steps: Any, memory: Any = None, verbose: bool = False) -> Pipeline:
    """A :class:`Pipeline` whose steps are named after their classes, as of ``sklearn.pipeline.make_pipeline``."""
    return Pipeline(pipeline._name_estimators(steps), memory=memory, verbose=verbose)


def _passed_on(name: str) -> Any:
    def has(self: Pipeline) -> bool:
        return hasattr(self.steps[-1][1], name)

    def answer(self: Pipeline, X: Any, *arguments: Any, **named: Any) -> Any:
        before = self[:-1].transform(X) if len(self.steps) > 1 else X
        return getattr(self.steps[-1][1], name)(before, *arguments, **named)

    answer.__name__, answer.__qualname__ = name, f"Pipeline.{name}"
    answer.__doc__ = f"``{name}`` of the last step on the transformed rows."
    return available_if(has)(answer)


for _name in ANSWERS:
    setattr(Pipeline, _name, _passed_on(_name))

__all__ = ["Pipeline", "make_pipeline"]
