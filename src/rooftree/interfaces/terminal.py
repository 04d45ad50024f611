"""Answers on a terminal: at most 100 columns, colours only where there is a terminal."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rooftree.interfaces.metrics import Metric, described
from rooftree.interfaces.words import (
    by_weight,
    change,
    clean,
    figure_range,
    figure_value,
    interval,
    layout_words,
    neighbour_value,
    percent,
    quantity,
)
from rooftree.studies.results import Answer, Result, Slice
from rooftree.units import show as show_quantity

if TYPE_CHECKING:
    from rooftree.studies.collective import CollectiveAnswer

_WIDEST = 100
_MOST_ROWS = 5
_MOST_FIGURES = 8
_BAR = 24


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


def show(result: Result, report: Path | None) -> None:
    """Print the summary of a result, the answer first."""
    out = console()
    out.print(clean(result.title), style="bold")
    out.print(f"{result.accelerators:,} accelerators of {clean(result.cluster)}", style="dim")
    for answer in result.answers:
        out.print()
        _answer(out, answer)
    if result.conflicts:
        out.print("\nSources that disagree, and our choice", style="bold")
    for conflict in result.conflicts:
        chosen = conflict.chosen
        others = ", ".join(f"{figure_value(other)} ({other.source})" for other in chosen.others)
        out.print(
            f"  {clean(f'{conflict.part} {conflict.key}')}: {figure_value(chosen)} ({chosen.source}), not {others}"
        )
        if chosen.note:
            out.print(f"    {clean(chosen.note)}", style="dim")
    out.print()
    if report is not None:
        out.print(Text("report  ").append(str(report), style="bold"), soft_wrap=True)
    out.print(f"computed in {show_quantity(result.elapsed_s, 's')}, version {result.version}", style="dim")


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
        table = grid("measured", "GPUs", "value", "our error", "", right=(1, 2, 3))
        for row in answer.neighbours[:_MOST_ROWS]:
            value = neighbour_value(row, row.measured)
            table.add_row(clean(row.what), f"{row.accelerators:,}", value, change(row.error), f"({row.split})")
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
    table = grid("figure", "value", "range", "basis", "effect", right=(1, 4))
    for use in by_weight(answer.figures)[:_MOST_FIGURES]:
        style = "yellow" if use.figure.basis == "assumed" else ""
        effect = f"{change(use.effect_low)} … {change(use.effect_high)}"
        name = clean(f"{use.part} {use.key}")
        table.add_row(name, figure_value(use.figure), figure_range(use.figure), Text(use.figure.basis, style), effect)
    out.print(table)


def collective(reply: "CollectiveAnswer", cluster: str) -> None:
    """Print the answer to `rooftree collective`."""
    out = console()
    out.print(f"{reply.op} of {show_quantity(reply.message_bytes, 'B')} over {reply.accelerators:,} GPUs", style="bold")
    out.print(clean(cluster), style="dim")
    if reply.extrapolated:
        out.print("EXTRAPOLATED: beyond what has been measured; ranges are wider", style="bold yellow")
    table = grid("", "value", "90 % range", right=(1,))
    rows = {"time_s": reply.time_s, "algbw_bytes_per_s": reply.algbw_bytes_per_s}
    for name, estimate in (rows | {"busbw_bytes_per_s": reply.busbw_bytes_per_s}).items():
        title = "Time" if name == "time_s" else described(name).title
        table.add_row(title, quantity(name, estimate.value), interval(name, estimate))
    out.print(table)
    out.print(f"\nAlgorithm: {clean(reply.algorithm)}")
    for name, other_s in sorted(reply.alternatives_s.items(), key=lambda pair: pair[1]):
        if name != reply.algorithm:
            out.print(f"  {clean(name)} would take {show_quantity(other_s, 's')}", style="dim")
    for tier, sent_bytes in reply.sent_bytes.items():
        out.print(f"One GPU sends {show_quantity(sent_bytes, 'B')} over {clean(tier).replace('_', '-')}")
    for note in reply.notes:
        out.print(f"note: {clean(note)}", style="dim")


def explanation(metric: Metric) -> None:
    """Print what a metric means."""
    out = console()
    out.print(f"{metric.title} ({metric.name})", style="bold")
    table = grid("", "")
    table.show_header = False
    better = f"{metric.better} is better" if metric.better else "neither way"
    inputs = "\n".join(metric.inputs)
    unit = f"{metric.counts}/s" if metric.counts else ("share" if metric.unit == "1" else metric.unit)
    rows = {"unit": f"{unit}; {better}", "equation": metric.equation, "inputs": inputs, "model": metric.model}
    for name, text in (rows | {"holds for": metric.validity, "source": metric.source}).items():
        table.add_row(Text(name, "dim"), text)
    out.print(table)
