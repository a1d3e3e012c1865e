"""The compiled part of ldlf. Arrays are NumPy's; features are an array or ``(indptr, indices, values, columns)``."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

type_of_features = NDArray[Any] | tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]
Event = tuple[str, int, int | None, float | None, float | None]

class Model:
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def to_onnx(self) -> bytes: ...
    def predict(self, rows: type_of_features, threads: int) -> NDArray[Any]: ...
    def history(self) -> list[Event]: ...
    def document(self) -> str: ...
    def array_names(self) -> list[str]: ...
    def array(self, name: str) -> NDArray[Any]: ...

class Holding:
    def __init__(self, threads: int) -> None: ...
    def add(
        self,
        number: int,
        first_row: int,
        features: type_of_features,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
    ) -> None: ...
    def answer(self, question: bytes) -> bytes | None: ...

class Coordinator:
    def __init__(
        self,
        settings: str,
        rows: int,
        features: int,
        labels: int,
        sparse: bool,
        virtual_shards: int,
        names: dict[str, Any],
        seed: int,
        threads: int,
    ) -> None: ...
    def question(self) -> bytes | None: ...
    def question_for_newcomer(self) -> bytes | None: ...
    def hear(self, answers: list[bytes]) -> list[Event]: ...
    def stop(self) -> None: ...
    def model(self) -> Model: ...

def fit(
    learner: str,
    settings: str,
    features: type_of_features,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    names: dict[str, Any],
    seed: int,
    threads: int,
    callback: Callable[..., bool] | None = None,
) -> Model: ...
def describe_learners() -> str: ...
def describe_measures() -> str: ...
def generate(name: str, rows: int, seed: int, options: str) -> tuple[type_of_features, NDArray[np.float32]]: ...
def normalise(targets: NDArray[np.float64]) -> NDArray[np.float32]: ...
def spread(labels: NDArray[np.float64], label_values: list[float], sigmas: list[float]) -> NDArray[np.float32]: ...
def implied_labels(labels: NDArray[np.float64]) -> NDArray[np.float64]: ...
def measure(
    name: str,
    truth: NDArray[np.float32],
    predicted: NDArray[np.float32],
    weights: NDArray[np.float64] | None = None,
    label_values: list[float] | None = None,
    values: list[float] | None = None,
) -> float: ...
def means(distributions: NDArray[np.float32], values: list[float]) -> NDArray[np.float64]: ...
def quantiles(distributions: NDArray[np.float32], values: list[float], level: float) -> NDArray[np.float64]: ...
def intervals(distributions: NDArray[np.float32], values: list[float], level: float) -> NDArray[np.float64]: ...
def entropies(distributions: NDArray[np.float32]) -> NDArray[np.float64]: ...
def head_units(trees: int, depth: int, units: int, labels: int, seed: int) -> NDArray[np.int64]: ...
def head_route(activations: NDArray[Any], units: NDArray[np.int64], leaves: NDArray[Any]) -> NDArray[Any]: ...
def head_predict(
    activations: NDArray[Any],
    units: NDArray[np.int64],
    leaves: NDArray[Any],
    out: NDArray[Any],
    threads: int,
) -> None: ...
def head_predict_grad(
    activations: NDArray[Any],
    units: NDArray[np.int64],
    leaves: NDArray[Any],
    above: NDArray[Any],
    gradient: NDArray[Any],
    threads: int,
) -> None: ...
def head_loss(
    activations: NDArray[Any],
    units: NDArray[np.int64],
    leaves: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[Any] | None,
    gradient: NDArray[Any],
    threads: int,
) -> float: ...
def head_to_onnx(
    weights: NDArray[np.float32] | None,
    bias: NDArray[np.float32] | None,
    units: NDArray[np.int64],
    leaves: NDArray[np.float32],
    width: int,
) -> bytes: ...
def write_file(path: str | os.PathLike[str], bytes: bytes) -> None: ...
def head_leaf_update(
    activations: NDArray[Any],
    units: NDArray[np.int64],
    leaves: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[Any] | None,
    iterations: int,
    prior: float,
    base: list[float],
    threads: int,
) -> None: ...
