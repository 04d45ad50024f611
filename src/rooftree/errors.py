"""What can go wrong, and how we say it.

RooftreeError
├── CatalogueError   a part or figure file is wrong
├── ScenarioError    a question is wrong: unknown key, bad unit, a layout that does not divide
├── FormatError      another tool's file is wrong
├── DoesNotFit       the question is fine, the memory or the device count is not
└── NotModelled      outside the validity of a model

A message has three parts: what (file, field, value), why, and what to do.
"""

import difflib
from collections.abc import Iterable


class RooftreeError(Exception):
    """A fault that the user can mend; printed without a traceback, exit 2."""

    def __init__(self, *faults: str) -> None:
        """Take one line per fault; all faults of a file are raised at once."""
        super().__init__("\n".join(faults))
        self.faults = faults


class CatalogueError(RooftreeError):
    """A part or a figure of a catalogue is wrong."""


class ScenarioError(RooftreeError):
    """A scenario or a command-line question is wrong."""


class FormatError(RooftreeError):
    """A file of another tool cannot be read."""


class DoesNotFit(RooftreeError):
    """The memory or the number of devices is too small for the question."""


class NotModelled(RooftreeError):
    """The question lies outside the validity of a model."""


MOST_NAMED = 16
"""Names that a hint lists at most."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest known spelling.

    >>> nearest("gb30", ["gb300", "h100"])
    "did you mean 'gb300'?"
    >>> nearest("zzz", ["gb300", "h100"])
    'known: gb300, h100'
    >>> nearest("h100", ["h100-superpod", "azure-gb300-4608"])
    "did you mean 'h100-superpod'?"
    >>> nearest("gb", ["GB", "Gb"])
    "did you mean 'GB' or 'Gb'?"
    """
    names = sorted(set(known))
    folded: dict[str, list[str]] = {}
    for candidate in names:
        folded.setdefault(candidate.casefold(), []).append(candidate)
    close = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f"'{candidate}'" for candidate in folded[close[0]]) + "?"
    inside = [candidate for candidate in names if name and name.casefold() in candidate.casefold()]
    if inside:
        return "did you mean " + " or ".join(f"'{candidate}'" for candidate in inside[:MOST_NAMED]) + "?"
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return "known: " + (", ".join(names[:MOST_NAMED]) + more if names else "none")
