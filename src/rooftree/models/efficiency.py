"""From the roofline to the time that a kernel takes: efficiency over shape and size."""

from collections.abc import Mapping

from rooftree.errors import NotModelled
from rooftree.facts.hardware import Accelerator, Efficiency
from rooftree.models.kernels import Kernel
from rooftree.models.roofline import peak_flops_per_s


def width_fraction(width: float, half_width: float) -> float:
    """Share of the large-size rate that a matrix product reaches when its smaller output side is `width`.

    f = width / (width + half_width)

    Narrow outputs leave rows of the tiles idle. Source: form chosen here; `half_width` is fitted, see docs/models.

    >>> width_fraction(64.0, 64.0)
    0.5
    """
    return width / (width + half_width)


def _fraction(fit: Efficiency, table: str, key: str) -> float:
    """Return an entry of `gemm_fraction` or `attention_fraction`; raises NotModelled when it isn't there."""
    entries: Mapping[str, float] = getattr(fit, table)
    if key not in entries:
        raise NotModelled(f"{fit.name}: has no {table}.{key}; add it to the part, or use one of {', '.join(entries)}")
    return entries[key]


def kernel_s(kernel: Kernel, accelerator: Accelerator) -> float:
    """Time of one kernel on one accelerator.

    t = launch + max(flops / (peak x fraction), bytes / (bandwidth x memory fraction))

    The fraction of a matrix product is that of its precision times `width_fraction`; that of attention depends on the
    phase. Raises NotModelled when the accelerator has no rate, or its efficiency no fraction, for the precision or the
    phase.
    """
    fit, work = accelerator.efficiency, kernel.work
    moved_s = work.moved_bytes / (accelerator.memory_bandwidth_bytes_per_s * fit.memory_fraction)
    if not work.flops:
        return fit.launch_s + moved_s
    peak = peak_flops_per_s(accelerator, work.peak)
    if kernel.kind == "attention":
        fraction = _fraction(fit, "attention_fraction", kernel.phase)
    else:
        fraction = _fraction(fit, "gemm_fraction", work.peak) * width_fraction(kernel.width, fit.gemm_half_width)
    return fit.launch_s + max(work.flops / (peak * fraction), moved_s)
