"""Images as rows: a folder or zip file, files, or pixels in memory."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _engine

#: What to do where deep networks are not built in.
NOT_BUILT_IN = (
    "this build of ldlf has no deep networks; build one that has: "
    "pip install ./bindings/python --config-settings build-args='--features deep'"
)

#: The accepted forms, for the error message about others.
FORMS = (
    "a folder or zip file, a list of files, an array of bytes of shape (rows, height, width, channels), or a list of arrays or of "
    "images of Pillow"
)


def require_deep_networks() -> None:
    """Refuses what only a build with deep networks can do."""
    if not _engine.has_deep_networks():
        raise ImportError(NOT_BUILT_IN)


def read(X: Any) -> _engine.Images:
    """The images that X stands for, one per row; nothing is decoded yet."""
    require_deep_networks()
    if isinstance(X, _engine.Images):
        return X
    if isinstance(X, str | os.PathLike):
        return _engine.Images.of_folder(X)
    if getattr(X, "ndim", 0) == 2 and hasattr(X, "iloc") and X.shape[1] == 1:
        X = X.iloc[:, 0]
    if isinstance(X, np.ndarray) and X.ndim in (3, 4):
        return _engine.Images.of_pixels([_bytes(row, pixels) for row, pixels in enumerate(X)])
    if getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__") or hasattr(X, "columns"):
        raise ValueError(f"rows are images here: X must be {FORMS}; got {_described(X)}")
    rows = X.tolist() if isinstance(X, np.ndarray) else list(X)
    if all(isinstance(row, str | os.PathLike) for row in rows):
        return _engine.Images.of_files(rows)
    return _engine.Images.of_pixels([_bytes(number, row) for number, row in enumerate(rows)])


def _bytes(row: int, given: Any) -> np.ndarray:
    """The pixels of an image as bytes."""
    if hasattr(given, "convert") and hasattr(given, "getbands"):  # an image of Pillow
        given = given.convert("RGB")
    pixels = np.asarray(given)
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype.kind in "OSU" or pixels.ndim not in (2, 3):
        raise ValueError(f"rows are images here: X must be {FORMS}; row {row} is {_described(given)}")
    raise ValueError(
        f"X row {row}: pixels must be bytes from 0 to 255 (uint8), got {pixels.dtype}; "
        "where they lie between 0 and 1, multiply by 255, then use .astype('uint8')"
    )


def _described(given: Any) -> str:
    """What something is, in a word or with its shape."""
    shape = getattr(given, "shape", None)
    return type(given).__name__ if shape is None else f"{type(given).__name__} of shape {tuple(shape)}"
