"""A choice among a few settings inside the training rows, the same for every method from outside."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy
from measures import mean_kl

Array = numpy.ndarray
Predict = Callable[[Any], Array]
Settings = dict[str, Any]

HELD_BACK = 0.2


@dataclass
class Rows:
    """Features (dense, or sparse by rows) with their distributions."""

    features: Any
    targets: Array

    def take(self, chosen: Array) -> "Rows":
        return Rows(self.features[chosen], self.targets[chosen])


class Grow(Protocol):
    """Fits one setting and gives the rounds it took with the function that predicts.

    `held` are rows to stop early by; without them `rounds` says how many there are. What has no rounds leaves both alone.
    """

    def __call__(self, setting: Settings, training: Rows, seed: int, held: Rows | None = None,
                 rounds: int | None = None) -> tuple[int | None, Predict]: ...


@dataclass
class Chosen:
    """Setting and rounds are chosen by K-L on held-back rows; then all training rows are fitted with them."""

    grow: Grow
    fixed: Settings
    candidates: list[Settings]
    choice: Settings = field(default_factory=dict)

    def fit(self, training: Rows, seed: int) -> Predict:
        part, held = hold_back(training, seed)
        trials = []
        for candidate in self.candidates:
            rounds, predict = self.grow({**self.fixed, **candidate}, part, seed, held=held)
            trials.append((mean_kl(held.targets, as_distributions(predict(held.features))), rounds, candidate))
        kl, rounds, candidate = min(trials, key=lambda trial: trial[0])
        self.choice = {**candidate, "rounds": rounds, "held_back_kl": kl}
        return self.grow({**self.fixed, **candidate}, training, seed, rounds=rounds)[1]


@dataclass
class Fixed:
    """One setting, fitted on all training rows."""

    grow: Grow
    fixed: Settings
    candidates: list[Settings] = field(default_factory=list)
    choice: Settings = field(default_factory=dict)

    def fit(self, training: Rows, seed: int) -> Predict:
        return self.grow(self.fixed, training, seed)[1]


def hold_back(training: Rows, seed: int) -> tuple[Rows, Rows]:
    """The rows to learn from and the rows to choose by; the same for every method."""
    order = numpy.random.default_rng(seed).permutation(len(training.targets))
    count = round(HELD_BACK * len(order))
    return training.take(numpy.sort(order[count:])), training.take(numpy.sort(order[:count]))


def as_distributions(predicted: Array) -> Array:
    """Rows without negative numbers that sum to 1; a row of zeros becomes uniform."""
    shares = numpy.maximum(numpy.asarray(predicted, dtype=numpy.float64), 0.0)
    totals = shares.sum(axis=1, keepdims=True)
    return numpy.where(totals > 0, shares / numpy.where(totals > 0, totals, 1.0), 1.0 / shares.shape[1])
