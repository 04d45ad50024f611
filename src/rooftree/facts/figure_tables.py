"""Figure tables: a `[figures.KEY]` table of a part file to a `Figure`.

Each fault is one line `file: key: what; why; what to do`, and all faults of a table are found at once. The checks are
plain Python: a schema library would double the time in which the catalogue opens.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from rooftree import units
from rooftree.errors import CatalogueError, ScenarioError, nearest
from rooftree.facts.fields import MOST, Fields, impossible
from rooftree.facts.sources import Basis, Figure, Source
from rooftree.files import read_text, shown, toml_table, visible

_LIMIT_BYTES = int(units.parse("256 KiB", "B"))
_TEXT, _NUMBER = (str,), (str, int, float)
_ENTRY: Mapping[str, tuple[type, ...]] = {
    "value": _NUMBER,
    "as_published": _TEXT,
    "basis": _TEXT,
    "source": _TEXT,
    "where": _TEXT,
    "low": _NUMBER,
    "high": _NUMBER,
    "note": _TEXT,
    "others": (list,),
}
_REQUIRED = ("value", "basis", "source", "where")


@dataclass(slots=True, kw_only=True)
class Page:
    """One file while it is read: where it is, its layer, the known sources, and the faults found so far."""

    file: Path
    layer: str
    sources: Mapping[str, Source]
    faults: list[str] = field(default_factory=list)

    def fault(self, key: str, what: str) -> None:
        """Note a fault of the value at `key`."""
        self.faults.append(f"{visible(str(self.file))}: {visible(key)}: {what}")

    def table(self) -> dict[str, Any]:
        """Return the file's TOML, or an empty table and a fault."""
        try:
            text = read_text(self.file, _LIMIT_BYTES, CatalogueError)
            return toml_table(text, visible(str(self.file)), CatalogueError)
        except CatalogueError as error:
            self.faults += error.faults
        return {}


def read_figure(page: Page, at: str, key: str, entry: object, known: Fields, *, chosen: bool = True) -> Figure | None:
    """Read one figure table, or note its faults and return None.

    `at` is the path in the file. Figures that were not chosen (`others`) need neither a possible size nor a range.
    """
    before = len(page.faults)
    if not isinstance(entry, dict):
        page.fault(at, f"is not a table; write [{at}] with value, basis, source, where")
        return None
    _keys(page, at, entry, chosen=chosen)
    value, low, high = _range(page, at, key, entry)
    basis = next((name for name in get_args(Basis) if name == entry.get("basis")), None)
    if basis is None and isinstance(entry.get("basis"), str):
        page.fault(
            f"{at}.basis", f"{shown(entry['basis'])} is unknown; {nearest(entry['basis'][:40], get_args(Basis))}"
        )
    source = entry.get("source")
    if isinstance(source, str) and source not in page.sources:
        page.fault(f"{at}.source", f"{shown(source)} is in no file of sources; {nearest(source[:40], page.sources)}")
    if chosen and value is not None and low is not None and high is not None:
        _sizes(page, at, key, value, low, high, whole=key in known.whole)
    if chosen and basis == "assumed":
        _assumption(page, at, entry, exact=low == high, whole=key in known.whole)
    listed = entry.get("others", []) if chosen else []
    others = [
        read_figure(page, f"{at}.others.{number}", key, other, known, chosen=False)
        for number, other in enumerate(listed if isinstance(listed, list) else [])
    ]
    if len(page.faults) > before or value is None or low is None or high is None or basis is None:
        return None
    return Figure(
        value=value,
        unit=units.unit_of(key),
        as_published=entry.get("as_published", str(entry["value"])),
        basis=basis,
        source=entry["source"],
        where=entry["where"],
        low=low,
        high=high,
        note=entry.get("note", ""),
        layer=page.layer,
        others=tuple(other for other in others if other is not None),
    )


def _keys(page: Page, at: str, entry: Mapping[str, object], *, chosen: bool) -> None:
    """Note unknown and missing keys of a figure table, and keys of the wrong type."""
    allowed = {name: types for name, types in _ENTRY.items() if chosen or name != "others"}
    for name, item in entry.items():
        if name not in allowed:
            page.fault(f"{at}.{name}", f"unknown key; {nearest(name, allowed)}")
        elif not isinstance(item, allowed[name]) or isinstance(item, bool):
            page.fault(f"{at}.{name}", f"has the wrong type; it must be {_wanted(allowed[name])}")
    for name in _REQUIRED:
        item = entry.get(name, "")
        if isinstance(item, str) and not item.strip():
            page.fault(f"{at}.{name}", f"missing; no figure stands without it; add {name} = …")


def _wanted(types: tuple[type, ...]) -> str:
    """Return in words what a key of a figure table holds."""
    if types == _TEXT:
        return "a text"
    return "a text with a unit, or a number for ratios and counts" if types == _NUMBER else "a list of tables"


def _range(page: Page, at: str, key: str, entry: Mapping[str, object]) -> tuple[float | None, ...]:
    """Return value, low and high in SI; what cannot be read is None and a fault; low and high default to value."""
    value = _number(page, f"{at}.value", key, entry.get("value"))
    ends = [_number(page, f"{at}.{end}", key, entry[end]) if end in entry else value for end in ("low", "high")]
    return value, ends[0], ends[1]


def _number(page: Page, at: str, key: str, raw: object) -> float | None:
    """Return one number in SI, or note why it is none."""
    unit = units.unit_of(key)
    if isinstance(raw, bool) or not isinstance(raw, _NUMBER) or (isinstance(raw, str) and not raw.strip()):
        return None
    try:
        if isinstance(raw, str) or unit != "1":
            return units.parse(str(raw), unit)
        if math.isfinite(raw):
            return float(raw)
        page.fault(at, "is not finite; write a number")
    except ScenarioError as error:
        page.fault(at, str(error))
    except OverflowError:
        page.fault(at, "is too large; write a number below 1e308")
    return None


def _sizes(page: Page, at: str, key: str, value: float, low: float, high: float, *, whole: bool) -> None:
    """Note values that cannot be, and a range that does not hold its value."""
    for name, number in (("value", value), ("low", low), ("high", high)):
        problem = impossible(key, number)
        if not problem and whole and not number.is_integer():
            problem = "not whole, but it is a count"
        if not problem and whole and number > MOST:
            problem = f"more than {MOST:,}"
        if problem and (name == "value" or number != value):
            page.fault(f"{at}.{name}", f"{number:g} is {problem}; correct it")
    if not low <= value <= high:
        page.fault(at, f"value {value:g} is outside low {low:g} to high {high:g}; widen the range or correct the value")


def _assumption(page: Page, at: str, entry: Mapping[str, object], *, exact: bool, whole: bool) -> None:
    """Note an assumed figure without a range or without a note; a count may be assumed exact if that is written."""
    if "low" not in entry or "high" not in entry or (exact and not whole):
        page.fault(at, "is assumed without a range; nobody stands for it; write low and high that lie apart")
    note = entry.get("note", "")
    if isinstance(note, str) and not note.strip():
        page.fault(at, "is assumed without a note; nobody can judge it; add note with the reason")
