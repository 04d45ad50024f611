"""The evidence map: per quantity, the largest scale and the newest accelerator that were measured."""

from collections.abc import Sequence

from rooftree.facts.measurements import Measurement, table
from rooftree.studies.results import Evidence

QUANTITIES = {"training": "training step", "inference": "serving", "collectives": "collective", "micro": "kernel"}
OLDEST_FIRST = ("h100-sxm", "gh200", "h200", "b200", "gb200", "b300", "gb300")
"""Accelerators in the order in which they came to market."""


def largest(rows: Sequence[Measurement]) -> Measurement:
    """Return the row with the most devices; ties go to the first id."""
    return min(rows, key=lambda row: (-row.devices, row.id))


def evidence_map() -> tuple[Evidence, ...]:
    """Return the map over the tables that come with rooftree, a line for each quantity."""
    found = []
    for name, quantity in QUANTITIES.items():
        rows = table(name).rows
        seen = sorted({row.accelerator for row in rows}, key=OLDEST_FIRST.index)
        top = largest(rows)
        newest = largest([row for row in rows if row.accelerator == seen[-1]])
        found.append(
            Evidence(
                quantity=quantity,
                rows=len(rows),
                generations=tuple(seen),
                largest_accelerators=top.devices,
                largest_id=top.id,
                newest_generation=seen[-1],
                newest_largest_accelerators=newest.devices,
            )
        )
    return tuple(found)
