"""Estimators as files: model files that the command reads too, and ONNX."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _engine, _inputs, _model_file, _targets
from ._images import NOT_BUILT_IN

if TYPE_CHECKING:
    from typing_extensions import Self


class SavesModels:
    """The methods of an estimator that write and read files."""

    _learner: ClassVar[str]
    _declared: ClassVar[tuple[str, ...]]
    model_: _engine.Model
    classes_: np.ndarray
    _left_out: list[str] | None

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the model file that ``ldlf predict`` and :func:`ldlf.load` read, whole or not at all.

        Beside the model, the file's metadata hold what only Python knows: the class, ``random_state``, ``n_jobs`` and the like.

        Parameters
        ----------
        path : path
        overwrite : bool, default=False
            Whether an existing file may be replaced.
        """
        check_is_fitted(self)
        _write(path, _model_file.with_python(self.model_.to_bytes(), self._facts()), overwrite)

    def to_bytes(self) -> bytes:
        """The bytes of the model file without what :meth:`save` adds for Python; they depend on data, parameters and seed alone."""
        check_is_fitted(self)
        return self.model_.to_bytes()

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        inputs: Literal["auto", "columns", "features"] = "auto",
        overwrite: bool = False,
    ) -> bytes:
        """The model as an ONNX file, which onnxruntime and others run without ldlf; scaling is part of it.

        It gives ``distributions`` of shape (rows, labels), for labels that stand for numbers also ``mean`` and ``mode`` of shape
        (rows,). Names are in its metadata. Models that cannot be exported, such as deep networks, raise.

        A model of plain numbers reads ``features`` of shape (rows, features) in single precision; a row with a missing value gives
        NaN. A model of a frame with other columns has an input of shape (rows, 1) for each: numbers in single precision (NaN where
        missing), yes and no as 1 and 0, categories as strings (empty where missing), dates as int64 seconds since 1970 (NaT where
        missing).

        Parameters
        ----------
        path : path, optional
            Where to write the file.
        inputs : {"auto", "columns", "features"}, default="auto"
            What the file reads: an input for every column of the frame, or one matrix of the features made of them.
        overwrite : bool, default=False
            Whether an existing file may be replaced.

        Returns
        -------
        bytes
            The file.
        """
        check_is_fitted(self)
        file = self.model_.to_onnx(inputs)
        if path is not None:
            _write(path, file, overwrite)
        return file

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a model file, made here or by ``ldlf train``; its learner must be this estimator's."""
        model, facts = _read(path)
        document = json.loads(model.document())
        if document["learner"] != cls._learner:
            raise ValueError(
                f"{os.fspath(path)} is a model of {document['learner']}, not of {cls._learner}; ldlf.load reads any"
            )
        return cls._revive(model, document, facts)

    def _facts(self) -> dict[str, Any]:
        """What the model does not say: the class, the parameters that the learner does not know, the labels as Python has them."""
        import ldlf

        cls = next(c for c in type(self).__mro__ if getattr(ldlf, c.__name__, None) is c)
        taken = set(cls._get_param_names()) - set(self._declared)
        parameters = {name: _as_json(getattr(self, name)) for name in sorted(taken)}
        if "random_state" in parameters and not isinstance(parameters["random_state"], int):
            parameters["random_state"] = self._seed  # type: ignore[attr-defined]
        kind = self.classes_.dtype.kind
        classes = self.classes_.tolist() if kind in "biufUO" else [str(label) for label in self.classes_]
        plain = all(isinstance(label, bool | int | float | str) for label in classes)
        return {
            "class": cls.__name__,
            "parameters": parameters,
            **({} if self._left_out is None else {"left_out": self._left_out}),
            **(
                {"classes": classes, "classes_dtype": "O" if kind in "UO" else self.classes_.dtype.str} if plain else {}
            ),
        }

    @classmethod
    def _revive(cls, model: _engine.Model, document: dict[str, Any], facts: dict[str, Any] | None = None) -> Self:
        schema, facts = document["schema"], facts or {}
        names, values, sigma = schema["label_names"], schema.get("label_values"), _sigma(schema)
        declared = {name: value for name, value in document["parameters"].items() if name in cls._declared}
        accepted = set(cls._get_param_names())  # type: ignore[attr-defined]
        shared = {"label_values": values, "sigma": sigma, **facts.get("parameters", {})}
        shared = {name: value for name, value in shared.items() if name in accepted and name not in declared}
        estimator: Any = cls(**declared, **shared)
        if not estimator._reads_images():
            estimator.n_features_in_ = document["features"]
        if schema.get("columns") is not None:
            raw = [column["name"] for column in schema["columns"]]
            estimator.feature_names_in_ = np.asarray(raw, dtype=object)
            estimator.n_features_in_ = len(raw)
        elif schema.get("feature_names") is not None:
            estimator.feature_names_in_ = np.asarray(schema["feature_names"], dtype=object)
        estimator._left_out = facts.get("left_out")
        given = names != [f"label_{label}" for label in range(len(names))]
        if values is not None:
            values = np.asarray(values, dtype=np.float64)
        if "classes" in facts:
            classes = np.asarray(facts["classes"], dtype=facts["classes_dtype"])
        elif values is not None:
            classes = _targets._whole(values)
        else:
            classes = np.asarray(names, dtype=object) if given else np.arange(len(names))
        sigmas = None if sigma is None else _targets.widths(sigma)
        named = given and values is None
        estimator._seed = _inputs.seed(estimator.random_state) if isinstance(estimator.random_state, int) else 0
        estimator._learnt(model, _targets.Labels(classes, names if given else None, values, None, sigmas, named))
        return estimator  # type: ignore[no-any-return]


def _sigma(schema: dict[str, Any]) -> float | list[float] | None:
    """The spread that a model of one ordered label remembers, where it is a Gaussian."""
    spread = (schema.get("single") or {}).get("spread") or {}
    if "gaussian" in spread:
        return float(spread["gaussian"]["sigma"])
    return list(spread["gaussians"]["sigmas"]) if "gaussians" in spread else None


def _as_json(value: Any) -> Any:
    """A parameter as JSON: arrays and ranges as lists, what has no JSON as None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    try:
        return [_as_json(part) for part in value]
    except TypeError:
        return None


def _refuse_existing(path: str | os.PathLike[str], overwrite: bool) -> None:
    folder = Path(path).parent
    if not folder.exists():
        raise FileNotFoundError(f"the folder {folder} does not exist")
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"{os.fspath(path)} exists; choose another name or pass overwrite=True")


def _write(path: str | os.PathLike[str], file: bytes, overwrite: bool) -> None:
    """Writes a file, whole or not at all."""
    _refuse_existing(path, overwrite)
    _engine.write_file(path, file)


def _read(path: str | os.PathLike[str]) -> tuple[_engine.Model, dict[str, Any]]:
    if not os.path.exists(path):
        raise FileNotFoundError(f"{os.fspath(path)} does not exist")
    # The engine reads it first: it says in a sentence what is wrong with a file.
    try:
        model = _engine.Model.load(path)
    except ValueError as error:
        if "which this program lacks" in str(error) and not _engine.has_deep_networks():
            raise ValueError(f"{error}; {NOT_BUILT_IN}") from None
        raise
    return model, _model_file.python_facts(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model file as the estimator that wrote it; one of ``ldlf train`` as the estimator of its learner.

    >>> import os, tempfile
    >>> import ldlf
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> path = os.path.join(tempfile.mkdtemp(), "mean.ldlf")
    >>> ldlf.MeanLDL().fit(X, y).save(path)
    >>> ldlf.load(path)
    MeanLDL()
    """
    import ldlf

    from ._deep_estimators import DEEP_LEARNERS
    from ._estimators import LEARNERS

    model, facts = _read(path)
    document = json.loads(model.document())
    cls: Any = {**LEARNERS, **DEEP_LEARNERS}[document["learner"]]
    wrote = getattr(ldlf, str(facts.get("class")), None)
    if isinstance(wrote, type) and issubclass(wrote, cls):
        cls = wrote
    return cls._revive(model, document, facts)
