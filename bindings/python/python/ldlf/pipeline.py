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

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sklearn import pipeline
from sklearn.utils.metaestimators import available_if

from . import _frames
from ._explain import Explanation

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


def _if_last_has(name: str) -> Callable[[Any], Any]:
    """Marks a method of pipelines that is there if the last step has one of this name."""
    marked: Callable[[Any], Any] = available_if(lambda whole: hasattr(whole.steps[-1][1], name))
    return marked


class Pipeline(pipeline.Pipeline):
    """scikit-learn's ``Pipeline`` with the answers of label distributions: ``predict_mean``, ``predict_interval``, ``predict_dist``,
    ``predict_label``, ``sample``, ``explain`` and the like transform X by the steps before and ask the last one, with its other arguments.

    Parameters
    ----------
    steps, memory, verbose
        As of ``sklearn.pipeline.Pipeline``.
    """

    @_if_last_has("predict_frame")
    def predict_frame(self, frame: Any, *, keep: Sequence[str] = ()) -> Any:
        """``predict_frame`` of the last step: the predictions as a table of the kind of ``frame``, after the columns that are kept of it."""
        names = getattr(self, "feature_names_in_", None)
        used = frame if names is None else _frames.only(frame, [str(name) for name in names])
        return self.steps[-1][1]._frame_of(frame, keep, self._before(used))

    @_if_last_has("explain")
    def explain(self, X: Any, *, background: Any = None) -> Explanation:
        """``explain`` of the last step on the transformed rows: the columns are those that the steps before give."""
        behind = None if background is None else self._before(background)
        found: Explanation = self.steps[-1][1].explain(self._before(X), background=behind)
        return found

    def _before(self, X: Any) -> Any:
        """X as the last step reads it."""
        return self[:-1].transform(X) if len(self.steps) > 1 else X

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def make_pipeline(*steps: Any, memory: Any = None, verbose: bool = False) -> Pipeline:
    """A :class:`Pipeline` whose steps are named after their classes, as of ``sklearn.pipeline.make_pipeline``."""
    return Pipeline(pipeline._name_estimators(steps), memory=memory, verbose=verbose)


def _passed_on(name: str) -> Any:
    def answer(self: Pipeline, X: Any, *arguments: Any, **named: Any) -> Any:
        return getattr(self.steps[-1][1], name)(self._before(X), *arguments, **named)

    answer.__name__, answer.__qualname__ = name, f"Pipeline.{name}"
    answer.__doc__ = f"``{name}`` of the last step on the transformed rows."
    return _if_last_has(name)(answer)


for _name in ANSWERS:
    setattr(Pipeline, _name, _passed_on(_name))

__all__ = ["Pipeline", "make_pipeline"]
