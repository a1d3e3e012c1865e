"""What estimators on deep networks share: their rows may be images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _images
from ._base import DistributionEstimator, Progress

if TYPE_CHECKING:
    from typing_extensions import Self


class DeepEstimator(DistributionEstimator):
    """An estimator on a deep network, in a build that has them. Rows are images; under the backbone ``mlp`` they are a table.

    Images are given as the path of a folder or zip file (all of its images, in the order of their names), as a list, array or column of
    paths, as an array of bytes of shape (rows, height, width) or (rows, height, width, channels), or as a list of such arrays, or of
    images of Pillow, which may differ in size. They are resized so that the shorter side fits, and cut to a square.
    """

    backbone: Any

    def _reads_images(self) -> bool:
        return bool(self.backbone != "mlp")

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        callback: Callable[[Progress], bool | None] | None = None,
        calibrate: float | None = None,
    ) -> Self:
        """Learns from images, or under ``mlp`` from a table.

        Parameters
        ----------
        X : images or table
            As of the class. Every image is decoded once before anything is learnt; one that cannot be read is named.
        y : array or table of shape (rows, labels), or array of shape (rows,)
            As of :class:`ldlf.LDLForest`.
        sample_weight : array of shape (rows,), or "votes", optional
        eval_set : (X, y), optional
            Your own validation rows, for early stopping; otherwise a fraction of the training rows is held out.
        callback : callable, optional
            Called with a :class:`Progress` on every event; returning ``True`` ends the fit with the best model so far.
        calibrate : float, optional
            The fraction of the rows that is held out of the training, for intervals and label sets with a promise.

        Returns
        -------
        The estimator itself.
        """
        _images.require_deep_networks()
        return super().fit(X, y, sample_weight, eval_set=eval_set, callback=callback, calibrate=calibrate)

    def predict_frame(self, frame: Any, *, keep: Sequence[str] = ()) -> Any:
        """The predictions as a table: of images a pandas frame with one column per label, indexed by what the images are called, else as of
        every estimator."""
        if not self._reads_images():
            return super().predict_frame(frame, keep=keep)
        import pandas as pd

        images = _images.read(frame)
        index = pd.Index(images.names(), name="image")
        return pd.DataFrame(self.predict(images), index=index, columns=self._heads())
