"""The answers of `rooftree collective` and `rooftree explain` on a terminal."""

from typing import TYPE_CHECKING

from rich.text import Text

from rooftree.interfaces.metrics import Metric, described
from rooftree.interfaces.screen import console, grid
from rooftree.interfaces.words import clean, interval, quantity
from rooftree.units import show as show_quantity

if TYPE_CHECKING:
    from rooftree.studies.collective import CollectiveAnswer


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
    out.print(f"{metric.title} ({', '.join((metric.name, *metric.also))})", style="bold")
    table = grid("", "")
    table.show_header = False
    better = f"{metric.better} is better" if metric.better else "neither way"
    inputs = "\n".join(metric.inputs)
    unit = f"{metric.counts}/s" if metric.counts else ("share" if metric.unit == "1" else metric.unit)
    rows = {"unit": f"{unit}; {better}", "equation": metric.equation, "inputs": inputs, "model": metric.model}
    for name, text in (rows | {"holds for": metric.validity, "source": metric.source}).items():
        table.add_row(Text(name, "dim"), text)
    out.print(table)
