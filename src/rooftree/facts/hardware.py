"""The parts a cluster is made of.

Each part is a frozen record whose numeric fields are SI and whose `figures` map holds the provenance of each under
the same key: field `memory_bytes` has figure `memory_bytes`; entry `fp8` of the mapping field `peak_flops_per_s` has
figure `peak_flops_per_s.fp8`. A field of another part's type is a reference by name in the part's file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rooftree.facts.sources import Figure

Figures = Mapping[str, Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """How close the kernels of one GPU generation come to its peaks.

    `gemm_fraction` and `attention_fraction` are shares of the dense peak at large size, by precision and by phase
    (`forward`, `backward`, `decode`); `gemm_half_width` is the smaller output dimension at which half of it is
    reached; `memory_fraction` is the share of the rated bandwidth that a stream reaches; `launch_s` is the fixed cost
    of a kernel.
    """

    name: str
    title: str
    gemm_fraction: Mapping[str, float]
    gemm_half_width: float
    attention_fraction: Mapping[str, float]
    memory_fraction: float
    launch_s: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One GPU. Peaks are dense, never sparse; bandwidths are one direction, never both."""

    name: str
    title: str
    generation: str
    efficiency: Efficiency
    peak_flops_per_s: Mapping[str, float]
    memory_bytes: float
    memory_bandwidth_bytes_per_s: float
    host_bandwidth_bytes_per_s: float
    peak_w: float
    idle_w: float
    training_power_fraction: float
    serving_power_fraction: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One operating-system image with its GPUs: a compute tray of an NVL72, or an 8-GPU server."""

    name: str
    title: str
    accelerator: Accelerator
    accelerators: int
    cpus: int
    cpu_w: float
    memory_bytes: float
    memory_bandwidth_bytes_per_s: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One kind of link and what collectives get out of it.

    `bandwidth_bytes_per_s` is what one device sends while it receives as much. `ring_fraction` is the share of it that
    a ring keeps inside one domain, `cross_fraction` the share that a ring keeps which crosses domains;
    `reduce_fraction` the share that an all-reduce done in the switches keeps (0: the switches do not add). A
    collective costs `base_s` once and `step_s` a step.
    """

    name: str
    title: str
    bandwidth_bytes_per_s: float
    ring_fraction: float
    cross_fraction: float
    reduce_fraction: float
    all_to_all_fraction: float
    base_s: float
    step_s: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A scale-out switch."""

    name: str
    title: str
    ports: int
    port_bandwidth_bytes_per_s: float
    power_w: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rack:
    """A rack and its scale-up domain.

    `other_w` is what is neither GPU nor CPU: switch trays, NICs, drives, fans, conversion losses.
    """

    name: str
    title: str
    host: Host
    scale_up: Link
    hosts: int
    domain_accelerators: int
    other_w: float
    power_limit_w: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where the cluster stands."""

    name: str
    title: str
    pue: float
    water_m3_per_j: float
    carbon_kg_per_j: float
    energy_usd_per_j: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What an hour of one GPU costs to rent."""

    name: str
    title: str
    accelerator_usd_per_h: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """A number format: its bits a value with scales, and the key of `Accelerator.peak_flops_per_s` that it runs at."""

    name: str
    title: str
    peak: str
    bits: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The software on a cluster: how much it hides and what it costs.

    `exposed` is the share of a communication that compute does not hide, by kind (`tensor`, `context`, `expert`,
    `pipeline`, `data`). `parameter_bytes` is what one parameter takes as `weight`, `gradient` and optimizer `state` in
    training. `host_s` is what the host adds to one decode iteration; `prefill_tokens` is how many prompt tokens an
    engine takes at once; `reserved_bytes` is the memory that runtime, communication buffers and fragmentation take on
    each accelerator.
    """

    name: str
    title: str
    exposed: Mapping[str, float]
    parameter_bytes: Mapping[str, float]
    host_s: float
    prefill_tokens: float
    reserved_bytes: float
    figures: Figures = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Racks joined by a scale-out fabric at a site."""

    name: str
    title: str
    rack: Rack
    scale_out: Link
    switch: Switch
    site: Site
    prices: Prices
    stack: Stack
    racks: int
    leaves: int
    spines: int
    figures: Figures = field(default_factory=dict, repr=False)


Part = Efficiency | Accelerator | Host | Link | Switch | Rack | Site | Prices | Precision | Stack | Cluster

KINDS: Mapping[str, type[Part]] = {
    "efficiency": Efficiency,
    "accelerator": Accelerator,
    "host": Host,
    "link": Link,
    "switch": Switch,
    "rack": Rack,
    "site": Site,
    "prices": Prices,
    "precision": Precision,
    "stack": Stack,
    "cluster": Cluster,
}
