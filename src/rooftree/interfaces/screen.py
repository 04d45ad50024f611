"""A terminal: at most 100 columns, colours only where there is one, and nothing taken as markup."""

import shutil
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

_WIDEST = 100


def console() -> Console:
    """Return a console on standard output, no wider than 100 columns, that takes nothing as markup."""
    width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
    return Console(file=sys.stdout, width=max(width, 40), markup=False, highlight=False, emoji=False)


def grid(*headings: str, right: Sequence[int] = ()) -> Table:
    """Return a table without lines."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    return table
