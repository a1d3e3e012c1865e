"""The compiled part of ldlf. Arrays are NumPy's; features are an array or ``(indptr, indices, values, columns)``."""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Coordinator",
    "Holding",
    "Images",
    "Model",
    "command",
    "describe_datasets",
    "describe_learners",
    "describe_measures",
    "encode_columns",
    "entropies",
    "fit",
    "generate",
    "has_deep_networks",
    "head_leaf_update",
    "head_loss",
    "head_predict",
    "head_predict_grad",
    "head_route",
    "head_to_onnx",
    "head_units",
    "implied_labels",
    "infer_columns",
    "intervals",
    "means",
    "measure",
    "measure_rows",
    "normalise",
    "quantiles",
    "read_mat",
    "spread",
    "write_file",
]

_Event = tuple[str, int, int | None, float | None, float | None]

@final
class Images:
    @staticmethod
    def of_folder(path: str | os.PathLike[str]) -> Images: ...
    @staticmethod
    def of_files(paths: Sequence[str | os.PathLike[str]]) -> Images: ...
    @staticmethod
    def of_pixels(arrays: Sequence[NDArray[np.uint8]]) -> Images: ...
    def followed_by(self, others: Images) -> Images: ...
    def names(self) -> list[str]: ...
    @property
    def shape(self) -> tuple[int]: ...
    def __len__(self) -> int: ...

_Features = NDArray[Any] | tuple[NDArray[Any], NDArray[Any], NDArray[Any], int] | Images

@final
class Model:
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def to_onnx(self, inputs: str) -> bytes: ...
    def predict(self, rows: _Features, threads: int) -> NDArray[Any]: ...
    def promised_intervals(self, rows: _Features, of_votes: bool, level: float) -> NDArray[np.float64]: ...
    def promised_sets(self, rows: _Features, level: float) -> NDArray[np.bool_]: ...
    def spreads(self, rows: _Features) -> NDArray[np.float32]: ...
    def familiarity(self, rows: _Features) -> NDArray[np.float64]: ...
    def history(self) -> list[_Event]: ...
    def checkpoint(self) -> bytes | None: ...
    def out_of_fold(self) -> NDArray[np.float32] | None: ...
    def importances(self, rows: _Features, targets: NDArray[np.float64], threads: int) -> NDArray[np.float64]: ...
    def explain(
        self, rows: _Features, background: _Features, threads: int
    ) -> tuple[str, list[str], NDArray[np.float64], NDArray[np.float64]]: ...
    def trees(
        self, rows: _Features, threads: int
    ) -> list[tuple[list[list[tuple[int, float]]], list[list[float]], list[float]]] | None: ...
    def document(self) -> str: ...
    def array_names(self) -> list[str]: ...
    def array(self, name: str) -> NDArray[Any]: ...

@final
class Holding:
    def __new__(cls, threads: int) -> Holding: ...
    def add(
        self,
        number: int,
        first_row: int,
        features: _Features,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
    ) -> None: ...
    def answer(self, question: bytes) -> bytes | None: ...

@final
class Coordinator:
    def __new__(
        cls,
        settings: str,
        rows: int,
        features: int,
        labels: int,
        sparse: bool,
        virtual_shards: int,
        names: dict[str, Any],
        seed: int,
        threads: int,
    ) -> Coordinator: ...
    def question(self) -> bytes | None: ...
    def question_for_newcomer(self) -> bytes | None: ...
    def hear(self, answers: list[bytes]) -> list[_Event]: ...
    def stop(self) -> None: ...
    def model(self) -> Model: ...

def fit(
    learner: str,
    settings: str,
    features: _Features,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    names: dict[str, Any],
    seed: int,
    threads: int,
    callback: Callable[..., bool] | None = None,
    keep_checkpoint: bool = False,
    checkpoint: bytes | None = None,
    calibrate: float | None = None,
) -> Model: ...
def command(call: list[str]) -> int: ...
def infer_columns(frame: list[tuple[str, str, Any]]) -> tuple[str, list[tuple[str, str]], list[str]]: ...
def encode_columns(columns: str, frame: list[tuple[str, str, Any]]) -> tuple[_Features, list[str], list[str]]: ...
def describe_datasets() -> str: ...
def read_mat(path: str | os.PathLike[str]) -> tuple[_Features, NDArray[np.float32]]: ...
def describe_learners() -> str: ...
def has_deep_networks() -> bool: ...
def describe_measures() -> str: ...
def generate(name: str, rows: int, seed: int, options: str) -> tuple[_Features, NDArray[np.float32]]: ...
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
def measure_rows(
    name: str,
    truth: NDArray[np.float32],
    predicted: NDArray[np.float32],
    label_values: list[float] | None = None,
    values: list[float] | None = None,
) -> NDArray[np.float64]: ...
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
