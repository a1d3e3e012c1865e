"""The container of a model file: a safetensors file whose metadata hold the model's document and, beside it, what only Python knows."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

import numpy as np

#: The metadata entry that the engine reads, and the one that it leaves alone.
DOCUMENT, PYTHON = "ldlf", "ldlf.python"

KINDS = {np.dtype("<f4"): "F32", np.dtype("<f8"): "F64", np.dtype("<u4"): "U32"}


def with_python(file: bytes, facts: dict[str, Any]) -> bytes:
    """The file with facts for Python in its metadata; arrays and document stay as they are."""
    header, start = _header(file)
    header["__metadata__"][PYTHON] = json.dumps(facts, sort_keys=True)
    return _join(header, file[start:])


def python_facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The facts for Python in the metadata of a model file; none in a file of the command."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    facts = json.loads(header["__metadata__"].get(PYTHON, "{}"))
    return facts if isinstance(facts, dict) else {}


def build(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """A model file of a document and arrays; the engine checks it when it reads it."""
    header: dict[str, Any] = {"__metadata__": {DOCUMENT: json.dumps(document)}}
    data = b""
    # Wide numbers first, as safetensors wants them.
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        part = np.ascontiguousarray(array).tobytes()
        place = [len(data), len(data) + len(part)]
        header[name] = {"dtype": KINDS[array.dtype], "shape": list(array.shape), "data_offsets": place}
        data += part
    return _join(header, data)


def _header(file: bytes) -> tuple[dict[str, Any], int]:
    (length,) = struct.unpack("<Q", file[:8])
    return json.loads(file[8 : 8 + length]), 8 + length


def _join(header: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data
