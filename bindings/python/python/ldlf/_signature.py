"""The parameters of a class that adds some to another's: what scikit-learn, editors and ``help`` read."""

from __future__ import annotations

import inspect
import re
from typing import Any


def with_parameters_of(base: type, cls: Any, defaults: dict[str, Any] | None = None) -> None:
    """Gives ``cls.__init__(self, own..., **parameters)`` the parameters of ``base``, with other defaults for some: a signature, and a
    docstring that says what they are and which presets there are.
    """
    defaults = defaults or {}
    # What the keywords are typed with is known to type checkers alone.
    signature = inspect.signature(cls.__init__, eval_str=True, locals={"Unpack": list})
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    inherited = list(inspect.signature(base.__init__, eval_str=True).parameters.values())[1:]  # type: ignore[misc]
    changed = [p.replace(kind=p.KEYWORD_ONLY, default=defaults.get(p.name, p.default)) for p in inherited]
    cls.__init__.__signature__ = inspect.Signature([*own, *changed])
    if cls.__doc__ and base.__doc__:
        cls.__doc__ = _described(
            inspect.cleandoc(cls.__doc__), inspect.cleandoc(base.__doc__), base.__name__, cls.__name__
        )


def _described(own: str, base: str, base_name: str, name: str) -> str:
    """The docstring of a class with what that of its base says about the other parameters and about presets."""
    said = set(re.findall(r"(?m)^(\w+) : ", _section(own, "Parameters")))
    entries = re.split(r"(?m)^(?=\w+ : )", _section(base, "Parameters"))
    others = "".join(entry for entry in entries if entry.split(" : ")[0] not in said)
    text = re.sub(r"\*\*parameters\n(    .*\n)+", lambda _: others, own)
    notes = _section(base, "Notes").replace(f"{base_name}.from_preset", f"{name}.from_preset")
    return text.replace("\nExamples\n", f"\nNotes\n-----\n{notes}\nExamples\n")


def _section(text: str, title: str) -> str:
    """What stands below a heading, up to the next one."""
    found = re.search(rf"(?ms)^{title}\n-+\n(.*?)(?=^\w+\n---|\Z)", text)
    return found[1].rstrip() + "\n" if found else ""
