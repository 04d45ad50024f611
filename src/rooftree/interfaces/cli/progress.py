"""Progress on a terminal, and silence everywhere else."""

import sys
import time
from types import TracebackType
from typing import Self

_PATIENCE_S = 2
_PAUSE_S = 0.2
_ERASE = "\r\x1b[2K"


class Progress:
    """A line on stderr that says what is going on, once the work takes a while."""

    def __init__(self) -> None:
        """Start the clock."""
        self._start_s = self._last_s = time.monotonic()
        self._shown = False

    def __call__(self, what: str, fraction: float) -> None:
        """Tell how far a piece of work is, if somebody is waiting for it on a terminal."""
        now_s = time.monotonic()
        waited = now_s - self._start_s >= _PATIENCE_S and now_s - self._last_s >= _PAUSE_S
        if waited and sys.stderr.isatty():
            self._last_s, self._shown = now_s, True
            sys.stderr.write(f"{_ERASE}{what[:60]} {fraction:4.0%}")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        """Take the line away again, whatever happened."""
        if self._shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
