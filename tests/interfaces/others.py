"""A made-up answer to a collective, and a made-up architecture."""

from rooftree.facts.architectures import GroupedQuery, Transformer
from rooftree.studies.collective import CollectiveAnswer
from rooftree.studies.results import Estimate

COLLECTIVE = CollectiveAnswer(
    op="all_reduce",
    message_bytes=2.0**30,
    accelerators=72,
    time_s=Estimate(value=1.5e-3, low=1.3e-3, high=1.8e-3),
    algbw_bytes_per_s=Estimate(value=7.2e11, low=6e11, high=8.3e11),
    busbw_bytes_per_s=Estimate(value=1.42e12, low=1.18e12, high=1.63e12),
    algorithm="nvls",
    alternatives_s={"nvls": 1.5e-3, "ring": 2.6e-3, "tree": 4e-3},
    sent_bytes={"scale_up": 1.09e9, "scale_out": 0.0},
    extrapolated=True,
    notes=("one rack, in-switch reduction",),
    elapsed_s=0.25,
)

SHAPE = Transformer(
    name="small",
    title="Small [1B]",
    layers=16,
    hidden=2048,
    mlp_width=8192,
    gated=True,
    attention=GroupedQuery(heads=32, kv_heads=8, head_dim=64),
    experts=None,
    dense_layers=0,
    vocabulary=128256,
    tied_embeddings=True,
    prediction_layers=0,
    maximum_tokens=131072,
    source="OTHER",
    where="config.json",
    notes=("rotary scaling is left out",),
)
