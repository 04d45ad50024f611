"""The parts of a whole, in words that a reader knows."""

from collections.abc import Mapping

from rooftree.studies.results import Slice

EXPLAINED = {
    "matrix products": "linear layers and the output head, forward and backward",
    "attention": "the fused attention core",
    "memory-bound kernels": "norms, activation functions, casts, permutations",
    "tensor parallel": "all-gathers and reduce-scatters that compute does not hide",
    "context parallel": "exchange of keys and values that compute does not hide",
    "expert parallel": "dispatch and combine that compute does not hide",
    "pipeline transfers": "activations and gradients between stages that compute does not hide",
    "pipeline bubble": "stages that wait while the pipeline fills and drains",
    "data parallel": "gradient and parameter exchange that compute does not hide",
    "optimizer": "reading and writing the optimizer's state",
    "weights": "parameters in the format that the device keeps",
    "gradients": "accumulated over the microbatches",
    "optimizer state": "master weights and moments",
    "activations": "what the backward pass needs, of all microbatches in flight",
    "logits": "output of the last layer for one microbatch",
    "reserved": "runtime, communication buffers, fragmentation",
    "KV cache": "keys and values of the sequences in flight",
    "host": "scheduling and launches that the device waits for",
    "prefill": "prompts of new requests that the same devices take",
}
"""What the parts of a time or of a memory are, for a reader."""


def slices(parts: Mapping[str, float]) -> tuple[Slice, ...]:
    """Return the parts of a whole that are not zero, the largest first."""
    shown = sorted((part for part in parts if parts[part] > 0), key=lambda part: -parts[part])
    return tuple(Slice(name=part, value=parts[part], what=EXPLAINED.get(part, "")) for part in shown)
