"""Published measurements that come with rooftree: what was measured, under which conditions, and by whom."""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rooftree.errors import CatalogueError
from rooftree.facts.shipped import shipped

_COMMON = ("id", "accelerator", "gpus", "value", "unit", "source", "split")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measured value; `conditions` holds the other columns of its table as text.

    Rows with `split` of `test` check the models and never set a parameter.
    """

    id: str
    accelerator: str
    devices: int
    quantity: str
    value: float
    unit: str
    source: str
    split: str
    conditions: Mapping[str, str]

    def count(self, column: str, default: int = 1) -> int:
        """Return a condition as a whole number; the default where the table leaves it empty."""
        text = self.conditions.get(column, "")
        return int(text) if text else default


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of measurements: its rows, and what its TOML file says of it."""

    name: str
    title: str
    licence: str
    origin: str
    notes: str
    rows: Sequence[Measurement]


@cache
def table(name: str) -> Table:
    """Return a table of `measurements/` by name.

    Raises CatalogueError when its files are missing or a row cannot be read, with the line.

    >>> table("micro").rows[0].unit
    'FLOP/s'
    """
    folder = shipped("measurements")
    try:
        about = tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = [_measurement(name, line, row) for line, row in enumerate(csv.DictReader(file), start=2)]
    except OSError as fault:
        raise CatalogueError(f"measurements/{name}: cannot be read: {fault.strerror}; install rooftree again") from None
    texts = {key: str(about.get(key, "")) for key in ("title", "licence", "origin", "notes")}
    return Table(name=name, rows=rows, **texts)


def _measurement(name: str, line: int, row: dict[str, str]) -> Measurement:
    """Read one row of a table."""
    try:
        return Measurement(
            id=row["id"],
            accelerator=row["accelerator"],
            devices=int(row.get("gpus") or 1),
            quantity=row.get("metric") or row["quantity"],
            value=float(row["value"]),
            unit=row["unit"],
            source=row["source"],
            split=row["split"],
            conditions={key: text for key, text in row.items() if key not in _COMMON},
        )
    except (KeyError, ValueError) as fault:
        raise CatalogueError(f"measurements/{name}.csv: line {line}: {fault} is wrong; mend the row") from None
