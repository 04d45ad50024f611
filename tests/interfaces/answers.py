"""A made-up result with everything in it that a result may have, and a made-up catalogue."""

from rooftree.facts.hardware import Efficiency, Prices, Site
from rooftree.facts.sources import Figure, Source
from rooftree.studies.results import (
    Alternative,
    Answer,
    Conflict,
    Estimate,
    Evidence,
    FigureUse,
    Neighbour,
    Result,
    Slice,
)

SOURCES = {
    "MAKER": Source(
        key="MAKER", title="The Data <Sheet>", publisher="Maker", date="2025", where="https://maker.test/a"
    ),
    "OTHER": Source(key="OTHER", title="Another Sheet", publisher="Other", date="2025-08", where="p. 3"),
}


def figure(value, unit, words, basis="published", low=None, high=None, **more):
    return Figure(
        value=value,
        unit=unit,
        as_published=words,
        basis=basis,
        source="MAKER",
        where="table 2",
        low=value if low is None else low,
        high=value if high is None else high,
        **more,
    )


def use(part, key, used, low, high, metric="step_s"):
    return FigureUse(part=part, key=key, figure=used, metric=metric, effect_low=low, effect_high=high)


MEMORY = figure(
    288e9,
    "B",
    "288 GB",
    note="the maker's own sheet wins over the reseller's",
    others=(figure(279e9, "B", "279 GB", "measured"),),
)
PRICE = figure(6, "USD/h", "6 USD/h", low=3, high=8)
FIGURES = (
    use("gb300", "peak_flops_per_s.fp8", figure(5e15, "FLOP/s", "5 PFLOPS"), 0.0, 0.0),
    use("gb300", "memory_bandwidth_bytes_per_s", figure(8e12, "B/s", "8 TB/s", low=7.7e12, high=8e12), 0.012, 0.0),
    use("blackwell", "gemm_fraction.fp8", figure(0.72, "1", "0.72", "assumed", 0.6, 0.82), 0.14, -0.09),
    use("blackwell", "launch_s", figure(4e-6, "s", "about 4 us", "measured", 2e-6, 6e-6), -0.004, 0.004),
    use("quantum-x800", "ring_fraction", figure(0.88, "1", "88 %", "derived", 0.8, 0.93), 0.05, -0.02),
    use(
        "list",
        "accelerator_usd_per_h",
        figure(6, "USD/h", "6 USD/h", low=3, high=8),
        -0.5,
        0.33,
        "usd_per_million_tokens",
    ),
    use("quantum-x800", "step_s", figure(9e-6, "s", "9 us", "assumed", 5e-6, 15e-6), -0.01, 0.02),
)
NEIGHBOURS = (
    Neighbour(
        id="TR-0042",
        what="Llama 3.1 405B, 512 × GB300, FP8, MLPerf Training v5.1",
        accelerators=512,
        metric="step_s",
        unit="s",
        measured=6.1,
        predicted=6.35,
        error=0.041,
        split="test",
        source="OTHER",
        distance=0.2,
    ),
    Neighbour(
        id="TR-0017",
        what="Llama 3.1 405B, 1,024 × H100, BF16, 8k <tokens>",
        accelerators=1024,
        metric="step_s",
        unit="s",
        measured=19.4,
        predicted=17.9,
        error=-0.077,
        split="fit",
        source="UNKNOWN",
        distance=0.6,
    ),
)
TRAINING = Answer(
    question="training",
    title="Training Llama 3.1 405B, FP8, 4,608 sequences of 4,096 tokens",
    metrics={
        "step_s": Estimate(value=6.42, low=5.3, high=7.8),
        "tokens_per_s": Estimate(value=2.94e6, low=2.42e6, high=3.56e6),
        "tokens_per_s_per_accelerator": Estimate(value=638.0, low=525.0, high=772.0),
        "mfu": Estimate(value=0.392, low=0.32, high=0.47),
        "network_share": Estimate(value=0.11, low=0.06, high=0.18),
        "bubble_share": Estimate(value=0.045, low=0.045, high=0.045),
        "memory_bytes": Estimate(value=201e9, low=190e9, high=215e9),
        "power_w": Estimate(value=8.1e6, low=7.4e6, high=8.6e6),
        "energy_j_per_token": Estimate(value=3.1, low=2.5, high=3.9),
        "usd_per_million_tokens": Estimate(value=2.61, low=1.9, high=3.4),
    },
    layout={"tensor": 4, "pipeline": 8, "data": 144, "expert": 1, "microbatch": 1, "recompute": "selective"},
    time=(
        Slice(name="matrix products", value=4.3, what="linear layers on the tensor cores, forward and backward"),
        Slice(name="attention", value=0.71, what="the core of attention"),
        Slice(name="memory-bound kernels", value=0.42, what="norms, activations, rotary embeddings"),
        Slice(name="tensor exchange", value=0.38, what="all-gather and reduce-scatter inside the NVLink domain"),
        Slice(name="pipeline bubble", value=0.29, what="stages that wait for the first and the last microbatch"),
        Slice(name="gradient exchange", value=0.27, what="the part of it that is not hidden"),
        Slice(name="optimizer", value=0.05, what="Adam on the own shard"),
    ),
    memory=(
        Slice(name="weights", value=25e9, what="BF16 and FP8 copies"),
        Slice(name="gradients", value=51e9, what="FP32"),
        Slice(name="optimizer state", value=9e9, what="sharded over the data-parallel group"),
        Slice(name="activations", value=104e9, what="of the microbatches in flight"),
        Slice(name="reserve", value=12e9, what="framework, NCCL buffers, fragmentation"),
    ),
    memory_capacity_bytes=288e9,
    extrapolated=True,
    validity=("4,608 GPUs are 9 × the largest measured row of this generation (512).",),
    neighbours=NEIGHBOURS,
    alternatives=(
        Alternative(layout="tp8 pp4 dp144", headline=6.71, why="more exposed tensor exchange"),
        Alternative(layout="tp2 pp16 dp144", headline=6.93, why="a longer pipeline bubble"),
    ),
    candidates=1234,
    notes=("Expert balance is not in question: the model is dense.",),
    figures=FIGURES,
)
RESULT = Result(
    key="9f2c41d7",
    version="0.1.0",
    title="Llama 3.1 405B on the whole pod",
    cluster="azure-gb300-4608",
    cluster_accelerators=4608,
    answers=(TRAINING,),
    conflicts=(Conflict(part="gb300", key="memory_bytes", chosen=MEMORY),),
    evidence=(
        Evidence(
            quantity="training step",
            rows=412,
            generations=("A100", "H100", "GB200", "GB300"),
            largest_accelerators=16384,
            largest_id="TR-0003",
            newest_generation="GB300",
            newest_largest_accelerators=1024,
        ),
        Evidence(
            quantity="all-reduce",
            rows=230,
            generations=("H100", "GB200"),
            largest_accelerators=512,
            largest_id="CO-0101",
            newest_generation="GB200",
            newest_largest_accelerators=72,
        ),
    ),
    elapsed_s=0.84,
)

SITE = Site(
    name="somewhere",
    title="Somewhere cold",
    pue=1.15,
    water_m3_per_j=0.0,
    carbon_kg_per_j=1e-7,
    energy_usd_per_j=2e-8,
    figures={
        "pue": figure(1.15, "1", "1.15", "assumed", 1.1, 1.25, note="like its neighbours", others=(MEMORY.others)),
        "energy_usd_per_j": figure(2e-8, "USD/J", "0.072 USD/kWh", layer="mine"),
    },
)
PRICES = Prices(name="list", title="List prices", accelerator_usd_per_h=6.0, figures={})
EFFICIENCY = Efficiency(
    name="blackwell",
    title="Kernels of Blackwell",
    gemm_fraction={},
    gemm_half_width=1.0,
    attention_fraction={},
    memory_fraction=0.9,
    launch_s=4e-6,
)
