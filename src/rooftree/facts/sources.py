"""One number and why we believe it."""

from dataclasses import dataclass
from typing import Literal

Basis = Literal["measured", "published", "derived", "assumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document that figures are taken from.

    >>> Source(key="NV_ULTRA", title="Inside Blackwell Ultra", publisher="NVIDIA", date="2025", where="blog").key
    'NV_ULTRA'
    """

    key: str
    title: str
    publisher: str
    date: str
    where: str
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number in SI, its range, and where it comes from.

    `low` and `high` bound the plausible range and equal `value` when the figure is exact. `others` are conflicting
    figures that were not chosen; `note` says why this one was.

    >>> Figure(value=72, unit="1", as_published="72", basis="published", source="A", where="B", low=72, high=72).exact
    True
    """

    value: float
    unit: str
    as_published: str
    basis: Basis
    source: str
    where: str
    low: float
    high: float
    note: str = ""
    layer: str = "shipped"
    others: tuple["Figure", ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the figure has no range."""
        return self.low == self.value == self.high
