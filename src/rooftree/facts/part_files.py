"""Part files of a catalogue, read as text: which keys they hold, and every fault of their form at once."""

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rooftree.errors import CatalogueError, ScenarioError, nearest
from rooftree.facts.sources import Basis, Figure
from rooftree.files import raise_all, read_text, shown, visible
from rooftree.units import parse, unit_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_LIMIT_BYTES = int(parse("256 KiB", "B"))
_STRICT: dict[str, Any] = {"extra": "forbid", "strict": True}

Value = str | int | float


@dataclass(kw_only=True)
class FigureKeys:
    """One table `[figures.<key>]`; `others` are conflicting figures that were not chosen."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    value: Value
    basis: Basis
    source: str
    where: str
    as_published: str = ""
    low: Value | None = None
    high: Value | None = None
    note: str = ""
    others: "list[FigureKeys]" = field(default_factory=list)


@dataclass(kw_only=True)
class PartFile:
    """A part file: plain texts (title, references to other parts) and figures."""

    label: str
    texts: dict[str, str]
    figures: dict[str, FigureKeys]


def read_part_file(path: Path) -> PartFile:
    """Read a part file.

    Raises CatalogueError with every fault of its form: not TOML, unknown or missing keys of a figure, wrong kinds.
    """
    label = visible(str(path))
    text = read_text(path, _LIMIT_BYTES, CatalogueError)
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise CatalogueError(f"{label}: is not TOML: {visible(str(fault))}; mend that place") from None
    figures = table.pop("figures", {})
    wrong = [key for key, value in table.items() if not isinstance(value, str)]
    faults = [f"{visible(key)} = {shown(table[key])}: is not a text; write it in quotes" for key in wrong]
    read, more = _figures(figures)
    raise_all(label, faults + more, CatalogueError)
    return PartFile(label=label, texts=table, figures=read)


@cache
def _adapter() -> "TypeAdapter[dict[str, FigureKeys]]":
    """Return what checks the figures of a file; built once, on first use."""
    from pydantic import TypeAdapter

    return TypeAdapter(dict[str, FigureKeys])


def _figures(table: object) -> tuple[dict[str, FigureKeys], list[str]]:
    """Return the figures of a file and the faults of their form."""
    from pydantic import ValidationError

    try:
        return _adapter().validate_json(json.dumps(table, default=str)), []
    except ValidationError as faults:
        lines = []
        for fault in faults.errors(include_url=False):
            place = ".".join(("figures", *(str(step) for step in fault["loc"])))
            remedy = {"missing": "add it", "unexpected_keyword_argument": "take it out"}.get(fault["type"], "mend it")
            lines.append(f"{visible(place)}: {fault['msg'].lower()}; {remedy}")
        return {}, list(dict.fromkeys(lines))


def bind_figure(key: str, keys: FigureKeys, layer: str, sources: set[str]) -> tuple[Figure | None, list[str]]:
    """Turn the text of a figure into SI; a figure, or what is wrong with it."""
    unit, faults = unit_of(key), list[str]()
    values = {"value": keys.value, "low": keys.low, "high": keys.high}
    si: dict[str, float] = {}
    for name, text in values.items():
        if text is None:
            continue
        try:
            si[name] = _si(text, unit)
        except ScenarioError as fault:
            faults.append(f"{key}.{name}: {fault}")
    if keys.source not in sources:
        hint = nearest(keys.source[:60], sources)
        faults.append(f"{key}.source = '{visible(keys.source)}': is in no sources file; {hint}")
    if keys.basis == "assumed" and (keys.low is None or keys.high is None or not keys.note):
        faults.append(f"{key}: is assumed and needs a range and a note; add low, high and note")
    others = []
    for index, other in enumerate(keys.others):
        figure, found = bind_figure(key, other, layer, sources)
        faults += [f"{line} (in others, number {index + 1})" for line in found]
        others += [figure] if figure is not None else []
    low, high = si.get("low", si.get("value", 0.0)), si.get("high", si.get("value", 0.0))
    if not faults and not low <= si["value"] <= high:
        faults.append(f"{key}: the value must lie between low and high; mend the range")
    if not faults and low < 0:
        faults.append(f"{key}: is below zero; a part has no negative figures")
    if faults:
        return None, faults
    figure = Figure(
        value=si["value"],
        unit=unit,
        as_published=keys.as_published or str(keys.value),
        basis=keys.basis,
        source=keys.source,
        where=keys.where,
        low=low,
        high=high,
        note=keys.note,
        layer=layer,
        others=tuple(others),
    )
    return figure, []


def _si(value: Value, unit: str) -> float:
    """Read a value; a bare number is good for counts and ratios alone."""
    return parse(value if isinstance(value, str) else repr(value), unit)
