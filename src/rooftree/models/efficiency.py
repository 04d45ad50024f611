"""From the roofline to the time that a kernel takes: efficiency over shape and size."""

from rooftree.errors import NotModelled
from rooftree.facts.hardware import Accelerator
from rooftree.models.kernels import Kernel


def width_fraction(width: float, half_width: float) -> float:
    """Share of the large-size rate that a matrix product reaches when its smaller output side is `width`.

    f = width / (width + half_width)

    Narrow outputs leave rows of the tiles idle. Source: form chosen here; `half_width` is fitted, see docs/models.

    >>> width_fraction(64.0, 64.0)
    0.5
    """
    return width / (width + half_width)


def kernel_s(kernel: Kernel, accelerator: Accelerator) -> float:
    """Time of one kernel on one accelerator.

    t = launch + max(flops / (peak x fraction), bytes / (bandwidth x memory fraction))

    The fraction of a matrix product is that of its precision times `width_fraction`; that of attention depends on the
    phase. Raises NotModelled when the accelerator has no rate for the precision.
    """
    fit, work = accelerator.efficiency, kernel.work
    moved_s = work.moved_bytes / (accelerator.memory_bandwidth_bytes_per_s * fit.memory_fraction)
    if not work.flops:
        return fit.launch_s + moved_s
    peak_flops_per_s = accelerator.peak_flops_per_s.get(work.peak)
    if peak_flops_per_s is None:
        raise NotModelled(
            f"{accelerator.name}: precision {work.peak} is not modelled; the part gives no peak rate for it; "
            f"use one of {', '.join(sorted(accelerator.peak_flops_per_s))}"
        )
    if kernel.kind == "attention":
        fraction = fit.attention_fraction[kernel.phase]
    else:
        fraction = fit.gemm_fraction[work.peak] * width_fraction(kernel.width, fit.gemm_half_width)
    return fit.launch_s + max(work.flops / (peak_flops_per_s * fraction), moved_s)
