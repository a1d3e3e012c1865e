"""How a fitted estimator shows itself in notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

#: Labels that are named before the rest is counted.
NAMED = 8


def facts(estimator: Any) -> list[tuple[str, str]]:
    """What one wants to know about a fitted estimator at a glance."""
    classes = [str(label) for label in estimator.classes_.tolist()]
    labels = (
        ", ".join(classes)
        if len(classes) <= NAMED
        else f"{len(classes)}: {classes[0]}, {classes[1]}, ... {classes[-1]}"
    )
    rows = ("rows", "images") if estimator._reads_images() else ("features", str(estimator.n_features_in_))
    found = [("labels", labels), rows]
    if estimator.n_iter_:
        kept, done = estimator.best_iteration_, estimator.n_iter_
        found.append(("iterations", f"{done}" if kept == done else f"{kept} kept of {done}"))
    found.append(("ended", str(estimator.stopped_).replace("_", " ")))
    if hasattr(estimator, "oob_score_"):
        found.append(("score on rows left out", f"{estimator.oob_score_:.4g}"))
    return found


class ShowsItself:
    """scikit-learn's diagram of parameters, and under it what was learnt, once it was."""

    def _card(self) -> str:
        if not hasattr(self, "model_"):
            return ""
        own = [(str(name), str(value)) for name, value in getattr(self, "inspection_", [])]
        table, more = _table(facts(self)), _table(own)
        inside = f"<details><summary>inside the model</summary>{more}</details>" if own else ""
        return f'<div class="ldlf-card">{table}{inside}</div>'

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._card()  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._card()
        return bundle


def _table(rows: list[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table><tbody>{lines}</tbody></table>"
