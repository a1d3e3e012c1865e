"""The report of the command about a model and rows that are in memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _files, _inputs, _targets


def write(estimator: Any, path: Any, X: Any, y: Any, overwrite: bool) -> None:
    """Writes the page: the model and the rows go through files to the command that the package brings."""
    check_is_fitted(estimator)
    if estimator._reads_images():
        raise ValueError(
            "report reads tables, and the rows of this model are images; the command's `ldlf evaluate` measures it on them"
        )
    _files._refuse_existing(path, overwrite)
    truth = _targets.encoded(estimator._checked_y(y), estimator._labels)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.ldlf"
        estimator.save(model)
        rows = _inputs.features(estimator, X, reset=False)
        data = Path(folder) / "rows.npz"
        np.savez(data, features=rows.toarray() if sparse.issparse(rows) else rows, labels=truth)
        call = [
            sys.executable,
            "-m",
            "ldlf",
            "-q",
            "report",
            "--model",
            str(model),
            "--data",
            str(data),
            "-o",
            str(path),
        ]
        call += ["--force"] if overwrite else []
        done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().removeprefix("error: "))
