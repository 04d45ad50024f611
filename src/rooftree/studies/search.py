"""The best layout of a question: every valid one, memory as the first sieve, then the closed form."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rooftree.errors import DoesNotFit
from rooftree.facts.hardware import Cluster
from rooftree.models.layout import ENDS, Group, Layout, Recompute, divisors, faults
from rooftree.models.memory import training_bytes
from rooftree.models.step import Case, step_times
from rooftree.units import show

Progress = Callable[[str, float], None]
RECOMPUTE: tuple[Recompute, ...] = ("none", "selective", "full")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A layout that fits, its parts in seconds, and their sum."""

    case: Case
    times_s: dict[str, float]
    step_s: float


@dataclass(frozen=True, slots=True)
class Miss:
    """A layout that does not fit: what it needs, in all and by part."""

    needed_bytes: float
    layout: Layout
    held_bytes: dict[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search saw: the candidates that fit, the fastest first, and how many were looked at."""

    candidates: Sequence[Candidate]
    looked_at: int


def training_layouts(case: Case, devices: int) -> Iterator[Layout]:
    """Every layout of a training job that divides evenly, without regard to memory.

    Tensor groups stay inside a scale-up domain; a pipeline is interleaved only when its microbatches are a multiple of
    its stages, as frameworks demand; chunks are equal up to rounding.
    """
    model, workload, domain = case.model, case.workload, case.domain
    tensors = [t for t in divisors(devices) if model.attention.heads % t == 0 and domain % t == 0]
    contexts = [c for c in (1, 2, 4, 8, 16) if halves_evenly(workload.sequence, c)]
    experts = divisors(model.experts.routed) if model.experts is not None else [1]
    for tensor in tensors:
        for pipeline in (p for p in divisors(devices // tensor) if p <= model.layers):
            for context in (c for c in contexts if devices % (tensor * pipeline * c) == 0):
                data = devices // (tensor * pipeline * context)
                for microbatch in (1, 2, 4, 8, 16, 32):
                    if workload.global_batch % (data * microbatch):
                        continue
                    base = Layout(tensor=tensor, pipeline=pipeline, context=context, data=data, microbatch=microbatch)
                    for expert in (e for e in experts if (tensor * context * data) % e == 0):
                        yield from _interleaved(replace(base, expert=expert), model.layers, workload.global_batch)


def _interleaved(layout: Layout, layers: int, global_batch: int) -> Iterator[Layout]:
    """Return the layout with every useful number of chunks a stage."""
    yield layout
    microbatches = global_batch // (layout.data * layout.microbatch)
    if layout.pipeline == 1 or microbatches % layout.pipeline:
        return
    for interleave in equal_chunks(layers, layout.pipeline)[1:]:
        yield replace(layout, interleave=interleave)


def halves_evenly(sequence: int, context: int) -> bool:
    """Whether context ranks can each take an early and a late piece of a sequence, as causal attention is balanced.

    >>> halves_evenly(8192, 8), halves_evenly(4095, 1), halves_evenly(8192, 9)
    (True, True, False)
    """
    return context == 1 or sequence % (2 * context) == 0


def equal_chunks(layers: int, pipeline: int) -> list[int]:
    """Numbers of chunks a stage that leave the fullest stage as it is, in rising order; one alone without a pipeline.

    There are no more chunks than layers, embedding and output head.

    >>> equal_chunks(126, 9), equal_chunks(61, 4), equal_chunks(126, 8)
    ([1, 2, 7, 14], [1, 2, 4, 8], [1, 2, 4, 8, 16])
    """
    full = math.ceil(layers / pipeline)
    if pipeline == 1:
        return [1]
    most = max(1, min(full, (layers + ENDS) // pipeline))
    return [v for v in range(1, most + 1) if math.ceil(layers / (pipeline * v)) * v == full]


def fit_in_memory(case: Case, capacity_bytes: float) -> tuple[Case | None, dict[str, float]]:
    """Return the case with the least recomputation that fits, or none; and the bytes of the last one tried."""
    held_bytes: dict[str, float] = {}
    for recompute in RECOMPUTE:
        tried = replace(case, layout=replace(case.layout, recompute=recompute))
        held_bytes = training_bytes(case.model, tried.layout, case.workload, case.cluster.stack, case.linear, case.core)
        if sum(held_bytes.values()) <= capacity_bytes:
            return tried, held_bytes
    return None, held_bytes


def search_training(case: Case, devices: int, progress: Progress) -> Found:
    """All layouts that fit, the fastest first; ties go to the simpler layout.

    Raises DoesNotFit, with the closest layout and its largest term, when none fits.
    """
    capacity_bytes = case.cluster.rack.host.accelerator.memory_bytes
    layouts = list(training_layouts(case, devices))
    memo: dict[object, dict[str, float]] = {}
    found: list[Candidate] = []
    closest: Miss | None = None
    for index, layout in enumerate(layouts):
        if index % 256 == 0:
            progress("layouts", index / len(layouts))
        fitted, held_bytes = fit_in_memory(replace(case, layout=layout), capacity_bytes)
        if fitted is None:
            needed_bytes = sum(held_bytes.values())
            if closest is None or needed_bytes < closest.needed_bytes:
                closest = Miss(needed_bytes, layout, held_bytes)
            continue
        times_s = step_times(fitted, memo)
        found.append(Candidate(fitted, times_s, sum(times_s.values())))
    if not found:
        raise DoesNotFit(nothing_fits(case, devices, capacity_bytes, closest))
    found.sort(key=lambda candidate: (candidate.step_s, str(candidate.case.layout)))
    return Found(found, len(layouts))


def nothing_fits(case: Case, devices: int, capacity_bytes: float, closest: Miss | None) -> str:
    """Say why no layout is left: by how much the closest fails, which term is largest, and what would do."""
    workload, name = case.workload, case.model.name
    if closest is None:
        return (
            f"{name}: no layout divides {devices} GPUs and a global batch of {workload.global_batch}; "
            "choose a batch with more divisors in common with the number of GPUs"
        )
    needed_bytes, layout, held_bytes = closest.needed_bytes, closest.layout, closest.held_bytes
    largest = max(held_bytes, key=lambda part: held_bytes[part])
    enough = enough_devices(case, devices, capacity_bytes)
    remedy = f"{enough} GPUs are enough" if enough else "no number of GPUs that this cluster has was found to be enough"
    return (
        f"{name} does not fit {devices} GPUs of {show(capacity_bytes, 'B')}: the closest layout ({layout}) needs "
        f"{show(needed_bytes, 'B')} each, {show(needed_bytes - capacity_bytes, 'B')} too much, mostly {largest} "
        f"({show(held_bytes[largest], 'B')}); {remedy}; or take a smaller model, batch or sequence"
    )


def enough_devices(case: Case, devices: int, capacity_bytes: float) -> int:
    """Return a number of devices of the cluster, twice, four times ... as many, that some layout fits; 0 if none."""
    cluster = case.cluster
    total, usual = cluster.racks * cluster.rack.hosts * cluster.rack.host.accelerators, domain_of(cluster, devices)
    tried = devices * 2
    while tried <= total:
        domain = domain_of(cluster, tried) if case.domain == usual else case.domain
        larger = replace(case, domain=domain)
        # Larger microbatches and chunks on stages never need less memory, so those without are enough to look at.
        plain = (one for one in training_layouts(larger, tried) if one.microbatch == one.interleave == 1)
        if any(fit_in_memory(replace(larger, layout=layout), capacity_bytes)[0] for layout in plain):
            return tried
        tried *= 2
    return 0


def check_layout(case: Case, devices: int) -> list[str]:
    """Every fault of a layout that the user chose, its memory included."""
    found = faults(case.layout, case.model, devices, case.workload.global_batch)
    context, sequence = case.layout.context, case.workload.sequence
    if context >= 1 and not halves_evenly(sequence, context):
        found.append(
            f"layout.context = {context}: a sequence of {sequence} does not fall into {2 * context} equal pieces"
        )
    if found:
        return found
    capacity_bytes = case.cluster.rack.host.accelerator.memory_bytes
    held_bytes = training_bytes(case.model, case.layout, case.workload, case.cluster.stack, case.linear, case.core)
    needed_bytes = sum(held_bytes.values())
    if needed_bytes <= capacity_bytes:
        return []
    largest = max(held_bytes, key=lambda part: held_bytes[part])
    fault = (
        f"layout {case.layout}: needs {show(needed_bytes, 'B')} of {show(capacity_bytes, 'B')}, "
        f"{show(needed_bytes - capacity_bytes, 'B')} too much, mostly {largest} ({show(held_bytes[largest], 'B')}); "
        f"{_what_would_fit(case, devices, capacity_bytes)}"
    )
    return [fault]


def _what_would_fit(case: Case, devices: int, capacity_bytes: float) -> str:
    """Return the layout that fits and is closest to the chosen one."""
    fitting = (
        fit_in_memory(replace(case, layout=layout), capacity_bytes)[0] for layout in training_layouts(case, devices)
    )
    chosen = case.layout

    def distance(other: Layout) -> int:
        names = ("tensor", "pipeline", "context", "expert", "microbatch", "interleave")
        return sum(getattr(other, name) != getattr(chosen, name) for name in names)

    best = min((fit.layout for fit in fitting if fit is not None), key=distance, default=None)
    if best is None:
        return "no layout fits this many GPUs"
    return f"'{best}' would fit" + ("" if chosen.shard == best.shard else f" with shard = {best.shard}")


def domain_of(cluster: Cluster, devices: int) -> int:
    """Devices of a scale-up domain that a job uses when it is not told.

    A job that fits in a domain has it to itself. A larger one takes a part of each domain that divides it evenly, when
    that is three quarters of one at least and the cluster has domains enough: 64 of 72 for 512 GPUs, as published runs
    do. Else it is spread over as few domains as hold it, as evenly as can be.
    """
    full = cluster.rack.domain_accelerators
    if devices <= full:
        return devices
    domains = cluster.racks * cluster.rack.hosts * cluster.rack.host.accelerators // full
    even = max(size for size in divisors(devices) if size <= full)
    if 4 * even >= 3 * full and devices // even <= domains:
        return even
    return math.ceil(devices / math.ceil(devices / full))


def spread(cluster: Cluster, devices: int) -> Group:
    """Return the group of all devices of a job: how many, how many in its emptiest domain, and over how many domains.

    >>> from rooftree.facts.catalogue import cluster, open_catalogue
    >>> group = spread(cluster(open_catalogue(), "azure-gb300-4608"), 73)
    >>> group.local, group.domains
    (36, 2)
    """
    domains = math.ceil(devices / domain_of(cluster, devices))
    return Group(devices, devices // domains, domains)
