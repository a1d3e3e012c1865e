"""A bar while a fit runs: tqdm's, which is a widget in notebooks; a line now and then where tqdm is absent."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._base import Progress

#: Seconds between two lines of a log.
LOG_EVERY = 2.0


class Bar:
    """Shows the progress of one fit on standard error."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._kl: float | None = None
        self._last_line = time.monotonic()
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm = tqdm

    def show(self, progress: Progress) -> None:
        """Shows an event."""
        if progress.kl is not None:
            self._kl = progress.kl
        if progress.event != "iteration":
            return
        facts = {} if progress.loss is None else {"loss": f"{progress.loss:.4f}"}
        if self._kl is not None:
            facts["validation K-L"] = f"{self._kl:.4f}"
        if self._tqdm is not None:
            if self._bar is None:
                self._bar = self._tqdm(total=progress.total, unit="it")
            self._bar.set_postfix(facts, refresh=False)
            self._bar.update(progress.iteration - self._bar.n)
        elif time.monotonic() - self._last_line >= LOG_EVERY or progress.iteration == progress.total:
            words = ", ".join(f"{name} {value}" for name, value in facts.items())
            print(f"iteration {progress.iteration} of {progress.total} {words}", file=sys.stderr)
            self._last_line = time.monotonic()

    def close(self) -> None:
        """Leaves the bar as it stands."""
        if self._bar is not None:
            self._bar.close()
