"""The best way to serve: replicas, attention ranks, experts and how many requests to hold at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rooftree.errors import DoesNotFit
from rooftree.models.layout import Layout, divisors, faults
from rooftree.models.memory import serving_bytes
from rooftree.models.steady import Replica, first_token_s, mixed_times
from rooftree.units import show

HALVINGS = 30  # pure: bisection to a billionth


@dataclass(frozen=True, slots=True)
class Served:
    """A way to serve and what it gives: parts of the time between two tokens, and the cluster's totals."""

    replica: Replica
    sequences: float
    replicas: int
    times_s: dict[str, float]
    first_token_s: float

    @property
    def iteration_s(self) -> float:
        """Time between two tokens of one request (TPOT)."""
        return sum(self.times_s.values())

    @property
    def held(self) -> float:
        """Sequences that decode at once in all replicas."""
        layout = self.replica.layout
        return self.sequences * layout.data * layout.pipeline * self.replicas

    @property
    def in_flight(self) -> float:
        """Requests that a replica holds, those whose prompts are being taken included (Little's law)."""
        tokens = self.replica.workload.output_tokens
        rate_per_s = self.tokens_per_s / tokens / self.replicas
        return rate_per_s * (self.first_token_s + tokens * self.iteration_s)

    @property
    def tokens_per_s(self) -> float:
        """Output tokens of all replicas."""
        return self.held / self.iteration_s


def replica_layouts(replica: Replica, devices: int) -> Iterator[Layout]:
    """Every replica that divides evenly: tensor x data attention ranks for expert models, tensor x pipeline for dense.

    Groups stay inside a scale-up domain; experts are spread over all devices of the replica.
    """
    model = replica.model
    tensors = [t for t in divisors(model.attention.heads) if t <= min(devices, replica.domain)]
    for tensor in tensors:
        if model.experts is None:
            for pipeline in (1, 2, 4, 8):
                if tensor * pipeline <= devices and model.layers >= pipeline:
                    yield Layout(tensor=tensor, pipeline=pipeline)
            continue
        for size in divisors(model.experts.routed):
            if size % tensor == 0 and size <= min(devices, replica.domain):
                yield Layout(tensor=tensor, data=size // tensor, expert=size)


def memory(replica: Replica, sequences: float) -> dict[str, float]:
    """Bytes on one device when each attention rank decodes `sequences` sequences in each pipeline stage."""
    workload = replica.workload
    return serving_bytes(
        replica.model,
        replica.layout,
        replica.linear,
        replica.core,
        replica.kv,
        replica.cluster.stack,
        sequences * replica.layout.pipeline,
        workload.input_tokens + workload.output_tokens / 2,
        replica.chunk,
    )


def most_sequences(replica: Replica, limit_s: float) -> int:
    """Return the most sequences that an attention rank can hold in memory and within the time per token; 0 if none.

    Memory and the time between tokens both grow with the sequences, so bisection finds the last that fits.
    """
    capacity_bytes = replica.cluster.rack.host.accelerator.memory_bytes

    def fits(sequences: int) -> bool:
        if sum(memory(replica, sequences).values()) > capacity_bytes:
            return False
        return limit_s == 0 or sum(mixed_times(replica, sequences).values()) <= limit_s

    low, high = 0, 1
    while fits(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def at_concurrency(replica: Replica, concurrency: int) -> float:
    """Sequences that decode on each attention rank when `concurrency` requests are in flight in the replica.

    Little's law: in flight = decoding + arrival rate x time to first token, with the rate decoding / (output_tokens x
    time per token). Solved by bisection: the right side grows with the decoding sequences.
    """
    layout, workload = replica.layout, replica.workload
    ranks = layout.data * layout.pipeline

    def in_flight(sequences: float) -> float:
        times_s = mixed_times(replica, sequences)
        decoding = sequences * ranks
        rate_per_s = decoding / (workload.output_tokens * sum(times_s.values()))
        return decoding + rate_per_s * first_token_s(replica, times_s)

    low, high = 0.0, concurrency / ranks
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if in_flight(middle) < concurrency else (low, middle)
    return high


def serve(replica: Replica, devices: int) -> Served | None:
    """Answer one layout: at the stated concurrency, or with as many sequences as the limits allow; none if none fit."""
    limit_s = replica.workload.time_per_output_token_limit_s
    most = most_sequences(replica, limit_s)
    if most == 0:
        return None
    sequences = float(most)
    if replica.workload.concurrency:
        sequences = min(sequences, at_concurrency(replica, replica.workload.concurrency))
    times_s = mixed_times(replica, sequences)
    return Served(replica, sequences, replicas_on(replica, devices), times_s, first_token_s(replica, times_s))


def replicas_on(replica: Replica, devices: int) -> int:
    """Replicas that `devices` hold: those that fit in a scale-up domain do not straddle two.

    A rack of 72 holds four replicas of 16, two racks hold eight, although 144 / 16 is nine.
    """
    size, domain = replica.layout.devices, replica.domain
    if size > domain:
        return devices // size
    return devices // domain * (domain // size) + devices % domain // size


def search_serving(replica: Replica, devices: int) -> tuple[Sequence[Served], int]:
    """All replicas that fit, those with the most tokens per second first, and how many were looked at.

    Raises DoesNotFit when none does, with the nearest miss.
    """
    layouts = list(replica_layouts(replica, devices))
    served = [serve(replace(replica, layout=layout), devices) for layout in layouts]
    found = [one for one in served if one is not None]
    if not found:
        raise DoesNotFit(nothing_serves(replica, layouts))
    found.sort(key=lambda one: (-one.tokens_per_s, str(one.replica.layout)))
    return found, len(layouts)


def nothing_serves(replica: Replica, layouts: Sequence[Layout]) -> str:
    """Say what misses: memory by how much, or the limit of the time per token."""
    capacity_bytes = replica.cluster.rack.host.accelerator.memory_bytes
    needs = [(sum(memory(replace(replica, layout=layout), 1).values()), layout) for layout in layouts]
    needed_bytes, layout = min(needs, key=lambda need: need[0])
    name = replica.model.name
    if needed_bytes > capacity_bytes:
        held = memory(replace(replica, layout=layout), 1)
        largest = max(held, key=lambda part: held[part])
        return (
            f"{name} with one request does not fit {show(capacity_bytes, 'B')} a GPU: the closest replica ({layout}) "
            f"needs {show(needed_bytes, 'B')}, {show(needed_bytes - capacity_bytes, 'B')} too much, mostly {largest} "
            f"({show(held[largest], 'B')}); {_remedy(replica, capacity_bytes)}"
        )
    fitting = [layout for need, layout in needs if need <= capacity_bytes]
    fastest_s, best = min(
        (sum(mixed_times(replace(replica, layout=layout), 1).values()), str(layout)) for layout in fitting
    )
    limit_s = replica.workload.time_per_output_token_limit_s
    return (
        f"{name}: no replica gives a token every {show(limit_s, 's')}; the fastest ({best}) takes "
        f"{show(fastest_s, 's')} with a single request; raise the limit"
    )


def _remedy(replica: Replica, capacity_bytes: float) -> str:
    """Say how many devices of a scale-up domain hold the model with one request, if so many do."""
    whole = replica.cluster.rack.domain_accelerators
    larger = replace(replica, domain=whole)
    layouts = replica_layouts(larger, whole)
    fitting = [
        (layout.devices, str(layout))
        for layout in layouts
        if sum(memory(replace(larger, layout=layout), 1).values()) <= capacity_bytes
    ]
    if not fitting:
        return "no replica in a scale-up domain does; use fewer bits or shorter requests"
    size, layout = min(fitting)
    return f"a replica of {size} GPUs ('{layout}') fits; or use fewer bits"


def check_replica(replica: Replica, devices: int) -> list[str]:
    """Every fault of a replica that the user chose."""
    layout = replica.layout
    found = faults(layout, replica.model, layout.devices)
    if layout.devices > devices:
        found.append(f"layout takes {layout.devices} devices a replica, the job has {devices}; lower tensor or data")
    return found
