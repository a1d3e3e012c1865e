"""The parameters of a class that adds some to another's: what scikit-learn and editors read."""

from __future__ import annotations

import inspect
from typing import Any


def with_parameters_of(base: type, cls: Any, defaults: dict[str, Any] | None = None) -> None:
    """Gives ``cls.__init__(self, own..., **parameters)`` a signature with the parameters of ``base``, with other defaults for some."""
    defaults = defaults or {}
    own = [p for p in inspect.signature(cls.__init__, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
    inherited = list(inspect.signature(base.__init__, eval_str=True).parameters.values())[1:]  # type: ignore[misc]
    changed = [p.replace(kind=p.KEYWORD_ONLY, default=defaults.get(p.name, p.default)) for p in inherited]
    cls.__init__.__signature__ = inspect.Signature([*own, *changed])
