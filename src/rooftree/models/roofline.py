"""The roofline: no kernel is faster than its arithmetic at the peak rate or its traffic at the memory rate."""

from dataclasses import dataclass

from rooftree.errors import NotModelled
from rooftree.facts.hardware import Accelerator


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Operations done and bytes moved; costs compose by addition.

    >>> Work(flops=1.0, peak="bf16", read_bytes=2.0, written_bytes=3.0) * 2
    Work(flops=2.0, peak='bf16', read_bytes=4.0, written_bytes=6.0)
    """

    flops: float
    peak: str
    read_bytes: float
    written_bytes: float

    @property
    def moved_bytes(self) -> float:
        """Bytes read and written."""
        return self.read_bytes + self.written_bytes

    def __add__(self, other: "Work") -> "Work":
        """Add work of the same precision; raises ValueError for another."""
        if other.peak != self.peak:
            raise ValueError(f"work at {self.peak} and at {other.peak} does not add")
        return Work(
            flops=self.flops + other.flops,
            peak=self.peak,
            read_bytes=self.read_bytes + other.read_bytes,
            written_bytes=self.written_bytes + other.written_bytes,
        )

    def __mul__(self, times: float) -> "Work":
        """Repeat the work."""
        return Work(
            flops=self.flops * times,
            peak=self.peak,
            read_bytes=self.read_bytes * times,
            written_bytes=self.written_bytes * times,
        )


def peak_flops_per_s(accelerator: Accelerator, precision: str) -> float:
    """Rate of an accelerator at one precision; raises NotModelled when the part gives none."""
    rate_flops_per_s = accelerator.peak_flops_per_s.get(precision)
    if rate_flops_per_s is None:
        raise NotModelled(
            f"{accelerator.name}: precision {precision} is not modelled; the part gives no peak rate for it; "
            f"use one of {', '.join(sorted(accelerator.peak_flops_per_s))}"
        )
    return rate_flops_per_s


def roofline_s(work: Work, accelerator: Accelerator) -> float:
    """Lower bound of the time of `work` on one accelerator.

    t = max(flops / peak, bytes / memory bandwidth), both at their rated values. Raises NotModelled for a precision that
    the accelerator has no rate for.

    Valid as a bound always; as a prediction only at large size, see `models.efficiency`.
    Source: Williams, Waterman and Patterson 2009, Communications of the ACM 52(4).
    """
    compute_s = work.flops / peak_flops_per_s(accelerator, work.peak) if work.flops else 0.0
    return max(compute_s, work.moved_bytes / accelerator.memory_bandwidth_bytes_per_s)
