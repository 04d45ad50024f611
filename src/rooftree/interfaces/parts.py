"""Parts of a catalogue as tables, for a person or a program."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from rooftree.facts.architectures import Transformer
from rooftree.facts.hardware import Part
from rooftree.facts.sources import Figure, Source
from rooftree.interfaces.screen import console, grid
from rooftree.interfaces.words import clean, figure_range, figure_value
from rooftree.studies.results import plain
from rooftree.units import show

Table = dict[str, Any]


def index(shelves: Mapping[str, Sequence[Part]], architectures: Sequence[Transformer]) -> Table:
    """Return the parts and the architectures of a catalogue by kind."""
    parts = {
        kind: [{"name": part.name, "title": part.title, "figures": len(part.figures)} for part in held]
        for kind, held in shelves.items()
    }
    shapes = [{"name": shape.name, "title": shape.title} for shape in architectures]
    return {"parts": parts, "architectures": shapes}


def shape(architecture: Transformer, sources: Mapping[str, Source]) -> Table:
    """Return an architecture with the title of its source."""
    return {"architecture": plain(architecture), "source_title": _title(architecture.source, sources)}


def details(found: Mapping[str, Part], sources: Mapping[str, Source]) -> Table:
    """Return the figures of the parts of one name, with titles of sources, and the parts that these are made of."""
    return {
        "parts": [
            {
                "kind": kind,
                "name": part.name,
                "title": part.title,
                "uses": _uses(part),
                "figures": {key: _figure(figure, sources) for key, figure in part.figures.items()},
            }
            for kind, part in found.items()
        ]
    }


def show_index(table: Table) -> None:
    """Print the parts by kind."""
    out = console()
    rows = grid("kind", "name", "what it is", "figures", right=(3,))
    for kind, parts in table["parts"].items():
        for number, part in enumerate(parts):
            rows.add_row("" if number else kind, part["name"], clean(part["title"]), str(part["figures"]))
    for number, architecture in enumerate(table["architectures"]):
        rows.add_row("" if number else "architecture", architecture["name"], clean(architecture["title"]), "")
    out.print(rows)
    out.print("\nFigures of a part with their sources: rooftree catalogue PART", style="dim")


def show_details(table: Table) -> None:
    """Print the figures of parts, each with where it comes from."""
    out = console()
    for part in table["parts"]:
        out.print(f"{part['kind']} {part['name']}", style="bold", end="")
        out.print(f"  {clean(part['title'])}")
        for field, name in part["uses"].items():
            out.print(f"  {field}: {name}", style="dim")
        for key, figure in part["figures"].items():
            out.print()
            out.print(f"{key} = {figure['value_in_words']}", style="bold", end="")
            out.print(f"  ({figure['range_in_words']}; {figure['basis']}; layer {figure['layer']})")
            out.print(f"    published: {clean(figure['as_published'])}")
            out.print(f"    source: {_reference(figure)}")
            if figure["note"]:
                out.print(f"    note: {clean(figure['note'])}")
            for other in figure["others"]:
                other_words = f"{other['value_in_words']} ({other['basis']}), {_reference(other)}"
                out.print(f"    not chosen: {other_words}", style="yellow")
        out.print()


def show_shape(table: Table) -> None:
    """Print the shape of an architecture."""
    out = console()
    held = table["architecture"]
    out.print(f"architecture {held['name']}", style="bold", end="")
    out.print(f"  {clean(held['title'])}")
    rows = grid("", "")
    rows.show_header = False
    for key, value in held.items():
        if isinstance(value, dict):
            rows.add_row(key, ", ".join(f"{inner} {number}" for inner, number in value.items()))
        elif key not in ("name", "title", "notes", "source", "where") and value is not None:
            rows.add_row(key, f"{value:,}" if type(value) is int else str(value))
    out.print(rows)
    out.print(clean(f"source: {table['source_title'] or held['source']}, {held['where']} [{held['source']}]"))
    for note in held["notes"]:
        out.print(f"note: {clean(note)}", style="dim")


def _title(key: str, sources: Mapping[str, Source]) -> str:
    """Return who published a source, what and when; nothing for an unknown one."""
    source = sources.get(key)
    return f"{source.publisher}: {source.title} ({source.date})" if source else ""


def _figure(figure: Figure, sources: Mapping[str, Source]) -> Table:
    """Return a figure as data, with its source's title and its value in words."""
    table: Table = plain(figure)
    table |= {
        "source_title": _title(figure.source, sources),
        "value_in_words": figure_value(figure) if figure.unit == "1" else show(figure.value, figure.unit, 4),
        "range_in_words": figure_range(figure),
        "others": [_figure(other, sources) for other in figure.others],
    }
    return table


def _reference(figure: Table) -> str:
    """Return a figure's source and the place in it."""
    return clean(f"{figure['source_title'] or figure['source']}, {figure['where']} [{figure['source']}]")


def _uses(part: Part) -> dict[str, str]:
    """Return the parts that a part is made of, by field."""
    held = {field.name: getattr(part, field.name) for field in fields(part)}
    return {name: value.name for name, value in held.items() if is_dataclass(value) and hasattr(value, "name")}
