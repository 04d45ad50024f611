"""The shipped parts, and hand-made ones with round numbers that a reader can multiply in the head."""

import pytest

from rooftree.facts.architecture_files import find_architecture
from rooftree.facts.architectures import Experts, GroupedQuery, Latent, Transformer
from rooftree.facts.catalogue import cluster, folders, open_catalogue
from rooftree.facts.catalogue import precision as format_named
from rooftree.facts.hardware import (
    Accelerator,
    Cluster,
    Efficiency,
    Host,
    Link,
    Precision,
    Prices,
    Rack,
    Site,
    Stack,
    Switch,
)
from rooftree.models.kernels import Slice

BF16 = Precision(name="bf16", title="BF16", peak="bf16", bits=16)
FP8 = Precision(name="fp8", title="FP8", peak="fp8", bits=8)


@pytest.fixture(scope="session")
def catalogue():
    return open_catalogue()


@pytest.fixture(scope="session")
def azure(catalogue) -> Cluster:
    return cluster(catalogue, "azure-gb300-4608")


@pytest.fixture(scope="session")
def find_model(catalogue):
    return lambda name: find_architecture(name, folders(catalogue))


@pytest.fixture(scope="session")
def find_format(catalogue):
    return lambda name: format_named(catalogue, name)


@pytest.fixture(scope="session")
def bf16() -> Precision:
    return BF16


@pytest.fixture(scope="session")
def fp8() -> Precision:
    return FP8


@pytest.fixture(scope="session")
def share():
    """A slice of a model, BF16 throughout and undivided unless said otherwise."""
    whole = {"tensor": 1, "context": 1, "expert": 1, "linear": BF16, "core": BF16}
    return lambda **changes: Slice(**(whole | changes))


@pytest.fixture(scope="session")
def accelerator() -> Accelerator:
    """1 PFLOP/s in BF16 and 2 in FP8, 1 TB/s, of which kernels reach one half, and less where they are narrow."""
    efficiency = Efficiency(
        name="made",
        title="Made",
        gemm_fraction={"bf16": 0.5, "fp8": 0.25},
        gemm_half_width=64,
        attention_fraction={"forward": 0.5, "backward": 0.4, "decode": 0.1},
        memory_fraction=0.5,
        launch_s=1e-6,
    )
    return Accelerator(
        name="chip",
        title="Chip",
        generation="made",
        efficiency=efficiency,
        peak_flops_per_s={"bf16": 1e15, "fp8": 2e15},
        memory_bytes=100e9,
        memory_bandwidth_bytes_per_s=1e12,
        host_bandwidth_bytes_per_s=1e11,
        peak_w=1000,
        idle_w=100,
        training_power_fraction=0.9,
        serving_power_fraction=0.5,
    )


@pytest.fixture(scope="session")
def up() -> Link:
    """100 GB/s: 50 in a ring, 25 in a ring that leaves the domain, 40 in the switches, 80 in an all-to-all."""
    fractions = {"ring_fraction": 0.5, "cross_fraction": 0.25, "reduce_fraction": 0.4, "all_to_all_fraction": 0.8}
    return Link(name="up", title="Up", bandwidth_bytes_per_s=100e9, base_s=10e-6, step_s=1e-6, **fractions)


@pytest.fixture(scope="session")
def out() -> Link:
    """10 GB/s: all of it in a ring, 5 in an all-to-all."""
    fractions = {"ring_fraction": 1.0, "cross_fraction": 1.0, "reduce_fraction": 0.0, "all_to_all_fraction": 0.5}
    return Link(name="out", title="Out", bandwidth_bytes_per_s=10e9, base_s=20e-6, step_s=5e-6, **fractions)


@pytest.fixture(scope="session")
def stack() -> Stack:
    """A stack that hides nothing."""
    return Stack(
        name="stack",
        title="Stack",
        exposed=dict.fromkeys(("tensor", "context", "expert", "pipeline", "data"), 1.0),
        parameter_bytes={"weight": 2, "gradient": 4, "state": 12},
        host_s=1e-3,
        prefill_tokens=100,
        reserved_bytes=1e9,
    )


@pytest.fixture(scope="session")
def made(accelerator, up, out, stack) -> Cluster:
    """4 racks of 2 hosts of 4 chips; domains of 8."""
    host = Host(
        name="host",
        title="Host",
        accelerator=accelerator,
        accelerators=4,
        cpus=2,
        cpu_w=100,
        memory_bytes=1e12,
        memory_bandwidth_bytes_per_s=1e11,
    )
    rack = Rack(
        name="rack",
        title="Rack",
        host=host,
        scale_up=up,
        hosts=2,
        domain_accelerators=8,
        other_w=1000,
        power_limit_w=10_000,
    )
    return Cluster(
        name="made",
        title="Made",
        rack=rack,
        scale_out=out,
        switch=Switch(name="switch", title="Switch", ports=8, port_bandwidth_bytes_per_s=10e9, power_w=400),
        site=Site(name="site", title="Site", pue=1.25, water_m3_per_j=0, carbon_kg_per_j=0, energy_usd_per_j=0),
        prices=Prices(name="prices", title="Prices", accelerator_usd_per_h=10),
        stack=stack,
        racks=4,
        leaves=2,
        spines=1,
    )


@pytest.fixture(scope="session")
def tiny() -> Transformer:
    """Eight dense layers, small enough to count by hand."""
    return Transformer(
        name="tiny",
        title="Tiny",
        layers=8,
        hidden=100,
        mlp_width=300,
        gated=True,
        attention=GroupedQuery(heads=8, kv_heads=2, head_dim=10),
        experts=None,
        dense_layers=8,
        vocabulary=1000,
        tied_embeddings=False,
        prediction_layers=0,
        maximum_tokens=4096,
        source="TEST",
        where="here",
    )


@pytest.fixture(scope="session")
def mixed(tiny) -> Transformer:
    """The same with experts in all layers but two, and latent attention."""
    changes = {
        "name": "mixed",
        "attention": Latent(heads=8, query_rank=40, kv_rank=30, nope_dim=6, rope_dim=4, value_dim=5),
        "experts": Experts(routed=16, active=2, shared=1, width=50),
        "dense_layers": 2,
        "prediction_layers": 1,
    }
    return Transformer(**({name: getattr(tiny, name) for name in Transformer.__dataclass_fields__} | changes))
