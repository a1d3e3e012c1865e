"""Predicted distributions over labels that stand for numbers, as one object."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _engine, _inputs


class LabelDistribution:
    """The predictions of some rows: what :meth:`predict_dist` gives.

    Attributes
    ----------
    probabilities : ndarray of shape (rows, labels)
    values : ndarray of shape (labels,)
        The number that each label stands for, rising.

    Examples
    --------
    >>> from ldlf import LabelDistribution
    >>> ages = LabelDistribution([[0.25, 0.5, 0.25]], [20, 30, 40])
    >>> ages.mean().tolist(), ages.ppf(0.9).tolist(), ages.cdf(30).tolist()
    ([30.0], [40.0], [0.75])
    """

    def __init__(self, probabilities: Any, values: Any) -> None:
        self.probabilities = np.ascontiguousarray(probabilities, dtype=np.float32)
        self.values = np.asarray(values, dtype=np.float64)
        if self.probabilities.ndim != 2 or self.probabilities.shape[1] != len(self.values):
            raise ValueError(
                f"probabilities should have the shape (rows, {len(self.values)}), got {self.probabilities.shape}"
            )

    def __len__(self) -> int:
        return len(self.probabilities)

    def __getitem__(self, rows: Any) -> LabelDistribution:
        """Those rows."""
        return LabelDistribution(np.atleast_2d(self.probabilities[rows]), self.values)

    def __repr__(self) -> str:
        return f"LabelDistribution({len(self)} rows, {len(self.values)} labels from {self.values[0]:g} to {self.values[-1]:g})"

    def _repr_html_(self) -> str:
        """The first rows for notebooks: mean, interval and a small picture each."""
        some = self[: min(len(self), 8)]
        lines = []
        for row, (mean, (low, high), shares) in enumerate(zip(some.mean(), some.interval(0.8), some.probabilities)):
            heights = shares / max(float(shares.max()), 1e-9)
            step = 120 / len(shares)
            bars = "".join(
                f'<rect x="{place * step:.2f}" y="{24 - 24 * height:.2f}" width="{0.9 * step:.2f}" height="{24 * height:.2f}"/>'
                for place, height in enumerate(heights)
            )
            picture = f'<svg width="120" height="24" fill="#4c78a8" role="img" aria-label="distribution">{bars}</svg>'
            lines.append(f"<tr><td>{row}</td><td>{mean:.4g}</td><td>{low:g} to {high:g}</td><td>{picture}</td></tr>")
        span = f"{self.values[0]:g} to {self.values[-1]:g}"
        head = f"<tr><th>row</th><th>mean</th><th>80 % interval</th><th>{span}</th></tr>"
        more = f"<caption>the first of {len(self)} rows</caption>" if len(self) > len(some) else ""
        return f"<table>{more}<thead>{head}</thead><tbody>{''.join(lines)}</tbody></table>"

    def mean(self) -> np.ndarray:
        """The expected value of every row."""
        return _engine.means(self.probabilities, self.values.tolist())

    def std(self) -> np.ndarray:
        """The standard deviation of every row."""
        away = (self.values[None, :] - self.mean()[:, None]) ** 2
        found: np.ndarray = np.sqrt((self.probabilities * away).sum(axis=1, dtype=np.float64))
        return found

    def mode(self) -> np.ndarray:
        """The most probable value of every row; of equal ones the first."""
        found: np.ndarray = self.values[self.probabilities.argmax(axis=1)]
        return found

    def median(self) -> np.ndarray:
        """The smallest value at which the cumulative probability reaches one half."""
        return self.ppf(0.5)

    def ppf(self, q: Any) -> np.ndarray:
        """The smallest value at which the cumulative probability reaches ``q``; with several levels, one column each."""
        values = self.values.tolist()
        if np.ndim(q) == 0:
            return _engine.quantiles(self.probabilities, values, float(q))
        return np.column_stack([_engine.quantiles(self.probabilities, values, float(level)) for level in q])

    def cdf(self, x: Any) -> np.ndarray:
        """The probability of a value of at most ``x``: a number for all rows, or one for each."""
        at_most = self.values[None, :] <= np.reshape(np.asarray(x, dtype=np.float64), (-1, 1))
        found: np.ndarray = (self.probabilities * at_most).sum(axis=1, dtype=np.float64)
        return found

    def interval(self, level: Any = 0.8) -> np.ndarray:
        """The central interval that holds at least the share ``level``: shape (rows, 2); with several levels (rows, levels, 2)."""
        values = self.values.tolist()
        if np.ndim(level) == 0:
            return _engine.intervals(self.probabilities, values, float(level))
        return np.stack([_engine.intervals(self.probabilities, values, float(one)) for one in level], axis=1)

    def entropy(self) -> np.ndarray:
        """The entropy of every row in nats: 0 for certainty."""
        return _engine.entropies(self.probabilities)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """Values drawn from every row: shape (rows, n_samples)."""
        found: np.ndarray = self.values[drawn(self.probabilities, n_samples, random_state)]
        return found

    def log_score(self, y: Any) -> np.ndarray:
        """The logarithm of the probability of the label nearest to every row's y: at most 0, higher is better."""
        y = np.asarray(y, dtype=np.float64)
        if y.shape != (len(self),):
            raise ValueError(f"y should have the shape ({len(self)},), got {y.shape}")
        nearest = np.abs(y[:, None] - self.values[None, :]).argmin(axis=1)
        found = self.probabilities[np.arange(len(self)), nearest].astype(np.float64)
        score: np.ndarray = np.log(np.maximum(found, np.finfo(np.float32).tiny))
        return score


def drawn(distributions: np.ndarray, n_samples: int, random_state: Any) -> np.ndarray:
    """Places of labels, drawn from every row's distribution: ``[rows, n_samples]``."""
    reached = np.cumsum(distributions.astype(np.float64), axis=1)
    reached /= reached[:, -1:]
    draws = _inputs.uniform(random_state, (len(distributions), n_samples))
    places = np.array([np.searchsorted(row, draw, side="right") for row, draw in zip(reached, draws)], dtype=np.int64)
    found: np.ndarray = np.minimum(places.reshape(draws.shape), distributions.shape[1] - 1)
    return found
