"""What every figure shares."""

from __future__ import annotations

from typing import Any

#: The two colours of truth and prediction.
TRUE, PREDICTED = "0.45", "C0"


def pyplot() -> Any:
    """matplotlib's pyplot, or a sentence that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("figures need matplotlib; install it with: pip install 'ldlf[plot]'") from None
    return plt


def axes(ax: Any, **figure: Any) -> Any:
    """The given axes, or new ones."""
    plt = pyplot()
    return ax if ax is not None else plt.subplots(layout="constrained", **figure)[1]
