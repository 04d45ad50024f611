"""One collective on a cluster: its time, its bandwidths, and the algorithms that were weighed."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rooftree.errors import ScenarioError
from rooftree.facts.catalogue import Catalogue
from rooftree.facts.hardware import Cluster
from rooftree.facts.measurements import Measurement, table
from rooftree.models.collectives import busbw_factor, timing
from rooftree.models.layout import Group
from rooftree.studies.neighbours import what_if
from rooftree.studies.results import Estimate
from rooftree.studies.rows import Predicted, measured_parts, predict_all, predict_collective
from rooftree.studies.search import spread
from rooftree.studies.uncertainty import FEWEST_ROWS, Residuals, estimates, origin_of_range, scale_drift

SEED = 1
ALIKE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveAnswer:
    """Time and bandwidths of a collective with ranges; `alternatives` maps algorithms to seconds, `tiers` to bytes."""

    op: str
    message_bytes: float
    accelerators: int
    time_s: Estimate
    algbw_bytes_per_s: Estimate
    busbw_bytes_per_s: Estimate
    algorithm: str
    alternatives_s: Mapping[str, float]
    sent_bytes: Mapping[str, float]
    extrapolated: bool
    notes: tuple[str, ...]
    elapsed_s: float


def ask(op: str, message_bytes: float, accelerators: int, cluster: Cluster, catalogue: Catalogue) -> CollectiveAnswer:
    """Answer how long a collective takes among the first `accelerators` devices of a cluster on a quiet network.

    The range joins those of the link figures and the model's errors on the measured collectives. Raises ScenarioError
    for a size or a number of devices out of range, and NotModelled for an unknown collective.
    """
    started_s = time.perf_counter()
    total = cluster.racks * cluster.rack.hosts * cluster.rack.host.accelerators
    if not 2 <= accelerators <= total:
        raise ScenarioError(f"gpus = {accelerators}: {cluster.name} has {total:,}; write 2 to {total:,}")
    if not message_bytes > 0:
        raise ScenarioError(f"bytes = {message_bytes:g}: must be above 0; write for example '1 GiB'")
    group = spread(cluster, accelerators)

    def evaluate(on: Cluster, factor: float = 1.0) -> dict[str, float]:
        time_s = timing(op, message_bytes, group, on.rack.scale_up, on.scale_out).time_s * factor
        rate = message_bytes / time_s
        return {"time_s": time_s, "algbw": rate, "busbw": rate * busbw_factor(op, accelerators)}

    chosen = timing(op, message_bytes, group, cluster.rack.scale_up, cluster.scale_out)
    beyond = (*beyond_measured(op, accelerators, message_bytes, cluster), *what_if(cluster))
    done, _ = predict_all(table("collectives").rows, measured_parts(catalogue), predict_collective)
    errors = residuals(done, op=op, message_bytes=message_bytes, beyond=bool(beyond))
    found = estimates(cluster, evaluate, errors, SEED)
    return CollectiveAnswer(
        op=op,
        message_bytes=message_bytes,
        accelerators=accelerators,
        time_s=found["time_s"],
        algbw_bytes_per_s=found["algbw"],
        busbw_bytes_per_s=found["busbw"],
        algorithm=chosen.algorithm,
        alternatives_s=chosen.alternatives_s,
        sent_bytes=chosen.sent_bytes,
        extrapolated=bool(beyond),
        notes=(*beyond, *remarks(chosen.algorithm, group), origin_of_range(errors)),
        elapsed_s=time.perf_counter() - started_s,
    )


def residuals(done: Sequence[Predicted], *, op: str, message_bytes: float, beyond: bool) -> Residuals:
    """Choose the errors that a collective's interval is made of: fit rows most like the question, ten at least.

    First those of the operation with messages up to sixteen times smaller or larger, then of any operation, then of
    any size. Beyond what was measured they are widened by how far the larger runs are off from the smaller.
    """
    fit = [one for one in done if one.row.split == "fit"]
    near = [one for one in fit if 1 / ALIKE <= float(one.row.conditions["bytes"]) / message_bytes <= ALIKE]
    groups = [
        (f"{op} of like size", [one for one in near if one.row.quantity == op]),
        ("collectives of like size", near),
        ("all collectives", fit),
    ]
    name, rows = next((group for group in groups if len(group[1]) >= FEWEST_ROWS), groups[-1])
    return Residuals(
        log_errors=tuple(one.log_time_error for one in rows),
        widening=scale_drift(rows) if beyond else 0.0,
        group=f"{name} ({len(rows)} fit rows)",
    )


def remarks(algorithm: str, group: Group) -> tuple[str, ...]:
    """Say what a reader should know of the algorithm."""
    one = f"all in one scale-up domain of {group.local} GPUs"
    each = f"{group.local} or {group.local + 1}" if group.size % group.domains else f"{group.local}"
    words = (one if group.domains == 1 else f"{each} GPUs in each of {group.domains} scale-up domains",)
    if algorithm == "nvls":
        return (*words, "reduced in the switches: bus bandwidth follows the ring's formula although fewer bytes move")
    return words


def beyond_measured(op: str, accelerators: int, message_bytes: float, cluster: Cluster) -> tuple[str, ...]:
    """Say in which ways the question lies beyond the measured collectives."""
    name = cluster.rack.host.accelerator.name
    same = [row for row in table("collectives").rows if row.quantity == op and row.accelerator == name]
    if not same:
        return (f"no {op} was measured on {name}",)

    def size(row: Measurement) -> float:
        return float(row.conditions["bytes"])

    words = []
    most = max(row.devices for row in same)
    if accelerators > most:
        words.append(f"{accelerators:,} GPUs are more than the {most:,} of the largest measured {op} on {name}")
    sizes = [size(row) for row in same]
    if not min(sizes) <= message_bytes <= max(sizes):
        words.append(f"the message lies outside the measured sizes, {min(sizes):,.0f} to {max(sizes):,.0f} bytes")
    return tuple(words)
