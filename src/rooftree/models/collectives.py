"""Times of collectives on a quiet network, in closed form.

Sizes follow nccl-tests: `message_bytes` is the buffer of one rank for all-reduce and broadcast, the gathered buffer for
all-gather and reduce-scatter, the send buffer of one rank for all-to-all. Time is the primary quantity; bus bandwidth
is a convention that in-switch reduction breaks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rooftree.errors import NotModelled, nearest
from rooftree.facts.hardware import Link
from rooftree.models.layout import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The fastest algorithm and its time, and what the others would take; bytes one device sends by tier."""

    time_s: float
    algorithm: str
    alternatives_s: Mapping[str, float]
    sent_bytes: Mapping[str, float]


def ring_bandwidth_bytes_per_s(group: Group, up: Link, out: Link) -> float:
    """Rate at which a ring passes data through one rank.

    One domain: the scale-up link times its ring fraction. Across domains, the ring keeps `cross_fraction` of it at
    most, and the NICs of the ranks that share a domain carry the crossings together: min(up x cross, out x ring x
    local).
    """
    if group.domains == 1:
        return up.bandwidth_bytes_per_s * up.ring_fraction
    crossing_bytes_per_s = out.bandwidth_bytes_per_s * out.ring_fraction * group.local
    return min(up.bandwidth_bytes_per_s * up.cross_fraction, crossing_bytes_per_s)


def ring_s(message_bytes: float, group: Group, up: Link, out: Link, *, rounds: int) -> float:
    """Time of a ring: one round gathers or scatters, two rounds all-reduce.

    t = base + rounds [(n - 1) step + (n - 1)/n message / bandwidth]; a step is that of the slower tier for each
    crossing, that of scale-up for the others.

    Source: Patarasuk and Yuan 2009, J. Parallel Distrib. Comput. 69(2).
    """
    ranks, crossings = group.size, group.domains if group.domains > 1 else 0
    base_s = (out if crossings else up).base_s
    hops_s = (ranks - 1 - max(0, crossings - 1)) * up.step_s + max(0, crossings - 1) * out.step_s
    moved_s = (ranks - 1) / ranks * message_bytes / ring_bandwidth_bytes_per_s(group, up, out)
    return base_s + rounds * (hops_s + moved_s)


def chain_s(message_bytes: float, group: Group, up: Link, out: Link) -> float:
    """Time of a broadcast passed from rank to rank in small pieces.

    t = base + (n - 1) steps + message / bandwidth: the fill of the chain, then its rate.
    """
    empty_s = ring_s(0.0, group, up, out, rounds=1)
    return empty_s + message_bytes / ring_bandwidth_bytes_per_s(group, up, out)


def tree_s(message_bytes: float, group: Group, up: Link, out: Link) -> float:
    """Time of a double binary tree all-reduce over domains, a chain inside each.

    t = base + 2 [log2(domains) step_out + (local - 1) step_up] + 2 message / bandwidth

    Source: the latency rule of NCCL's tuner (see docs/models/collectives); the bandwidth is taken as a ring's.
    """
    base_s = (out if group.domains > 1 else up).base_s
    hops_s = math.log2(group.domains) * out.step_s + (group.local - 1) * up.step_s
    return base_s + 2 * hops_s + 2 * message_bytes / ring_bandwidth_bytes_per_s(group, up, out)


def switch_reduce_s(message_bytes: float, ranks: int, up: Link) -> float:
    """Time of an all-reduce done in the switches of one domain (NVLS).

    t = base + 2 step + message (1 + 1/n) / (bandwidth x reduce fraction): each rank sends its buffer once and receives
    the sum once, one part in n twice.
    """
    rate_bytes_per_s = up.bandwidth_bytes_per_s * up.reduce_fraction
    return up.base_s + 2 * up.step_s + message_bytes * (1 + 1 / ranks) / rate_bytes_per_s


def hierarchical_s(message_bytes: float, group: Group, up: Link, out: Link) -> float:
    """Time of an all-reduce that scatters in the domain, reduces across with 1/local of the data, and gathers again.

    The three phases follow each other; NCCL overlaps some of them, so this is an upper bound of the scheme.
    """
    inside, across = Group(group.local, group.local), Group(group.domains, 1)
    ends_s = ring_s(message_bytes, inside, up, out, rounds=2) if inside.size > 1 else 0.0
    return ends_s + ring_s(message_bytes / group.local, across, up, out, rounds=2)


def all_to_all_s(message_bytes: float, group: Group, up: Link, out: Link) -> float:
    """Time of an all-to-all: the local and the remote shares move at once, each on its own links.

    t = base + step + max(message (local - 1)/n / up, message (n - local)/n / out)
    """
    inside_s = message_bytes * (group.local - 1) / group.size / (up.bandwidth_bytes_per_s * up.all_to_all_fraction)
    if group.domains == 1:
        return up.base_s + up.step_s + inside_s
    remote_bytes = message_bytes * (group.size - group.local) / group.size
    across_s = remote_bytes / (out.bandwidth_bytes_per_s * out.all_to_all_fraction)
    return out.base_s + out.step_s + max(inside_s, across_s)


def point_to_point_s(message_bytes: float, group: Group, up: Link, out: Link) -> float:
    """Time to send to the neighbour: over scale-up where the group stays in a domain, else over the NIC."""
    link = up if group.domains == 1 else out
    return link.base_s + link.step_s + message_bytes / (link.bandwidth_bytes_per_s * link.ring_fraction)


def _candidates(op: str, message_bytes: float, group: Group, up: Link, out: Link) -> dict[str, float]:
    """Return the times of the algorithms that can do `op`."""
    if op == "all_reduce":
        times = {"ring": ring_s(message_bytes, group, up, out, rounds=2), "tree": tree_s(message_bytes, group, up, out)}
        if group.domains > 1:
            times["hierarchical"] = hierarchical_s(message_bytes, group, up, out)
        elif up.reduce_fraction:
            times["nvls"] = switch_reduce_s(message_bytes, group.size, up)
        return times
    if op in ("all_gather", "reduce_scatter"):
        return {"ring": ring_s(message_bytes, group, up, out, rounds=1)}
    if op == "all_to_all":
        return {"direct": all_to_all_s(message_bytes, group, up, out)}
    return {"chain": chain_s(message_bytes, group, up, out)}


OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")


def timing(op: str, message_bytes: float, group: Group, up: Link, out: Link) -> Timing:
    """Time of a collective with the fastest algorithm; raises NotModelled for an unknown one."""
    if op not in OPERATIONS:
        raise NotModelled(f"collective '{op[:40]}' is not modelled; {nearest(op, OPERATIONS)}")
    if group.size == 1:
        return Timing(time_s=0.0, algorithm="none", alternatives_s={}, sent_bytes={"scale_up": 0.0, "scale_out": 0.0})
    times = _candidates(op, message_bytes, group, up, out)
    best = min(times, key=lambda name: times[name])
    return Timing(
        time_s=times[best],
        algorithm=best,
        alternatives_s=times,
        sent_bytes=sent_by_tier(op, best, message_bytes, group),
    )


def sent_by_tier(op: str, algorithm: str, message_bytes: float, group: Group) -> dict[str, float]:
    """Bytes that one device sends over scale-up and scale-out links, averaged over the group.

    A ring has n edges, of which one a domain leaves it; a chain or a tree has n - 1, of which domains - 1 leave one.
    """
    ranks, local, domains = group.size, group.local, group.domains
    if algorithm == "nvls":
        return {"scale_up": message_bytes * (1 + 1 / ranks), "scale_out": 0.0}
    if algorithm == "hierarchical":
        across_bytes = 2 * (domains - 1) / domains * message_bytes / local
        return {"scale_up": 2 * (local - 1) / local * message_bytes, "scale_out": across_bytes}
    if op == "all_to_all":
        return {
            "scale_up": message_bytes * (local - 1) / ranks,
            "scale_out": message_bytes * (ranks - local) / ranks,
        }
    rounds = 2 if op == "all_reduce" else 1
    total_bytes = rounds * (ranks - 1) / ranks * message_bytes
    crossings, edges = (domains, ranks) if algorithm == "ring" else (domains - 1, ranks - 1)
    leaving = crossings / edges if domains > 1 else 0.0
    return {"scale_up": total_bytes * (1 - leaving), "scale_out": total_bytes * leaving}


def busbw_factor(op: str, ranks: int) -> float:
    """Bus over algorithm bandwidth, as nccl-tests prints it.

    Source: the performance page of nccl-tests: 2 (n-1)/n for all-reduce, (n-1)/n for gather, scatter and all-to-all,
    1 for broadcast.

    >>> busbw_factor("all_reduce", 4)
    1.5
    """
    return {"all_reduce": 2 * (ranks - 1) / ranks, "broadcast": 1.0}.get(op, (ranks - 1) / ranks)
