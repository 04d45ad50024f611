"""Answers on a terminal: at most 100 columns, colours only where there is a terminal."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rooftree.interfaces.metrics import described
from rooftree.interfaces.screen import console, grid
from rooftree.interfaces.words import (
    CODES,
    by_weight,
    clean,
    effect,
    figure_here,
    figure_range,
    figure_value,
    interval,
    layout_words,
    neighbour_value,
    off,
    percent,
    place,
    quantity,
)
from rooftree.studies.results import Answer, FigureUse, Result, Slice
from rooftree.units import show as show_quantity

_MOST_ROWS = 5
_MOST_FIGURES = 8
_MOST_CONFLICTS = 5
_BAR = 24


def show(result: Result, report: Path | None, own: str = "") -> None:
    """Print the summary of a result, the answer first; `own` names the user's layers that figures come from."""
    out = console()
    out.print(clean(result.title), style="bold")
    out.print(place(result), style="dim")
    if own:
        out.print(f"Figures from your catalogue: {own}", style="yellow")
    for answer in result.answers:
        out.print()
        _answer(out, answer)
    _conflicts(out, result)
    out.print()
    if report is not None:
        out.print(Text("report  ").append(str(report), style="bold"), soft_wrap=True)
    out.print(f"computed in {show_quantity(result.elapsed_s, 's')}, version {result.version}", style="dim")


def _conflicts(out: Console, result: Result) -> None:
    """Print where sources disagree, what moves an answer first."""
    moving = {use.key for answer in result.answers for use in answer.figures}
    conflicts = sorted(result.conflicts, key=lambda conflict: conflict.key not in moving)
    if conflicts:
        out.print("\nSources that disagree, and our choice", style="bold")
    for conflict in conflicts[:_MOST_CONFLICTS]:
        chosen = conflict.chosen
        others = ", ".join(f"{figure_value(other)} ({other.source})" for other in chosen.others)
        name = clean(f"{conflict.part} {conflict.key}")
        out.print(f"  {name}: {figure_value(chosen)} ({chosen.source}), not {others}")
        if chosen.note:
            out.print(f"    {clean(chosen.note)}", style="dim")
    if len(conflicts) > _MOST_CONFLICTS:
        out.print(f"  and {len(conflicts) - _MOST_CONFLICTS} more in the report", style="dim")


def _answer(out: Console, answer: Answer) -> None:
    """Print one answer."""
    out.print(clean(answer.title), style="bold")
    if answer.extrapolated:
        out.print("EXTRAPOLATED: beyond what has been measured; ranges are wider", style="bold yellow")
    table = grid("metric", "value", "90 % range", right=(1,))
    for number, (name, estimate) in enumerate(answer.metrics.items()):
        style = "bold cyan" if number == 0 else ""
        value = Text(quantity(name, estimate.value), style=style)
        table.add_row(Text(described(name).title, style=style), value, interval(name, estimate))
    out.print(table)
    searched = f"  (best of {answer.candidates:,})" if answer.candidates > 1 else ""
    out.print(f"\nLayout: {layout_words(answer.layout)}{searched}")
    for other in answer.alternatives[:_MOST_ROWS]:
        headline = quantity(next(iter(answer.metrics)), other.headline)
        out.print(f"  not {clean(other.layout)}: {headline}; {clean(other.why)}", style="dim")
    if answer.alternatives:
        out.print(f"  {CODES}", style="dim")
    _slices(out, "Where the time goes", answer.time, "s", sum(part.value for part in answer.time))
    title = f"Where the memory goes, of {show_quantity(answer.memory_capacity_bytes, 'B')} per accelerator"
    _slices(out, title, answer.memory, "B", answer.memory_capacity_bytes)
    _evidence(out, answer)
    _figures(out, answer)
    for note in answer.notes:
        out.print(f"note: {clean(note)}", style="dim")


def _slices(out: Console, title: str, slices: Sequence[Slice], unit: str, whole: float) -> None:
    """Print shares of a whole with bars."""
    out.print(f"\n{title}", style="bold")
    table = grid("", "", "", "", right=(1, 2))
    table.show_header = False
    for part in sorted(slices, key=lambda part: part.value, reverse=True):
        if part.value > 0:
            share = part.value / whole if whole else 0.0
            bar = "█" * max(1, round(min(share, 1.0) * _BAR))
            table.add_row(clean(part.name), show_quantity(part.value, unit), percent(share, 2), Text(bar, "cyan"))
    out.print(table)


def _evidence(out: Console, answer: Answer) -> None:
    """Print the nearest measured rows, and what the answer says about its own validity."""
    out.print("\nNearest measured rows, and our error there", style="bold")
    if answer.neighbours:
        table = grid("measured", "GPUs", "value", "we are", "", right=(1, 2, 3))
        rows = answer.neighbours[:_MOST_ROWS]
        alike = Counter(row.what for row in rows)
        for row in rows:
            what = clean(f"{row.what} {row.id}" if alike[row.what] > 1 else row.what)
            table.add_row(what, f"{row.accelerators:,}", neighbour_value(row, row.measured), off(row), f"({row.split})")
        out.print(table)
    else:
        out.print("  none", style="dim")
    for line in answer.validity:
        out.print(f"  {clean(line)}", style="dim")


def _figures(out: Console, answer: Answer) -> None:
    """Print the figures that matter most."""
    if not answer.figures:
        return
    out.print("\nFigures that move the answer most, assumed ones first", style="bold")
    headings = ("  value", "range", "basis", "effect")
    uses = by_weight(answer.figures)[:_MOST_FIGURES]
    rows = [_figure(use, next(iter(answer.metrics))) for use in uses]
    widths = [max(cell_len(row[column]) for row in (headings, *rows)) for column in range(len(headings) - 1)]
    out.print(_line(headings, widths, "dim"))
    for use, row in zip(uses, rows, strict=True):
        out.print(clean(f"{use.part} {use.key}"))
        out.print(_line(row, widths, "yellow" if use.figure.basis == "assumed" else ""))


def _figure(use: FigureUse, headline: str) -> tuple[str, str, str, str]:
    """Return what stands below a figure's name: value, range, basis, effect."""
    figure = use.figure
    return f"  {figure_here(figure)}", figure_range(figure), figure.basis, effect(use, headline)


def _line(cells: Sequence[str], widths: Sequence[int], style: str) -> Table:
    """Return one row of a table whose last column takes what the others leave."""
    table = grid(*cells)
    table.show_header = False
    for column, width in zip(table.columns, widths, strict=False):
        column.width = width
    table.add_row(*(Text(cell, style) for cell in cells))
    return table
