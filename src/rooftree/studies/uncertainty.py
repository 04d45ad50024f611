"""How far the truth may lie from a prediction: input ranges and the model's own errors, combined by seeded draws."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from rooftree.facts.hardware import Cluster
from rooftree.studies.results import Estimate
from rooftree.studies.rows import Predicted
from rooftree.studies.sensitivity import drawn_clusters, quantiles
from rooftree.units import show

Evaluate = Callable[[Cluster, float], Mapping[str, float]]

DRAWS = 96  # pure: samples; quantiles of 90 % settle to a few per cent
FEWEST_ROWS = 10
LEVEL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Residuals:
    """Errors of the model on the fit rows that are most like the question.

    `log_errors` are ln(measured / predicted) of the time; `widening` is added to the size of each when the question
    lies beyond the measured scale; `group` says which rows they are.
    """

    log_errors: tuple[float, ...]
    widening: float
    group: str


def residuals(done: Sequence[Predicted], *, mixture: bool, precision: str, beyond: bool) -> Residuals:
    """Choose the errors that an interval is made of: same kind of model and precision, else same kind, else all.

    A group needs ten fit rows. Test rows are never used.
    """
    fit = [one for one in done if one.row.split == "fit"]
    kind = "mixture-of-experts" if mixture else "dense"
    groups = [
        (
            f"{kind} {precision}",
            [o for o in fit if o.mixture == mixture and o.row.conditions["precision"] == precision],
        ),
        (kind, [one for one in fit if one.mixture == mixture]),
        ("all", fit),
    ]
    name, rows = next((group for group in groups if len(group[1]) >= FEWEST_ROWS), groups[-1])
    errors = tuple(one.log_time_error for one in rows)
    drift = scale_drift(rows) if beyond else 0.0
    return Residuals(log_errors=errors, widening=drift, group=f"{name} ({len(rows)} fit rows)")


def scale_drift(rows: Sequence[Predicted]) -> float:
    """How much the error of the larger runs differs from that of the smaller: |median difference| of the log errors.

    The stand-in for leaving a scale out while no parameter is fitted on these rows.
    """
    sizes = sorted(one.row.devices for one in rows)
    if not sizes or sizes[0] == sizes[-1]:
        return 0.0
    middle = median(sizes)
    large = [one.log_time_error for one in rows if one.row.devices > middle]
    small = [one.log_time_error for one in rows if one.row.devices <= middle]
    return abs(median(large) - median(small)) if large and small else 0.0


def half_width(errors: Residuals) -> float:
    """Conformal half-width in the logarithm of the time: the (n + 1) 0.9-th smallest |error|, and the widening.

    Source: split conformal prediction, Lei et al. 2018, J. Am. Stat. Assoc. 113(523).
    """
    sizes = sorted(map(abs, errors.log_errors))
    if not sizes:
        return math.inf
    rank = min(len(sizes), math.ceil((len(sizes) + 1) * LEVEL))
    return sizes[rank - 1] + errors.widening


def estimates(
    cluster: Cluster, evaluate: Evaluate, errors: Residuals, seed: int, draws: int = DRAWS
) -> dict[str, Estimate]:
    """Return each metric with the interval that is to hold the true value at 90 %.

    `draws` clusters with figures from their ranges, each with a factor on the model's time drawn from the errors with
    either sign (the model is as likely wrong the other way round on a new case); the interval is from the 5 % to the
    95 % quantile, no narrower than the conformal one of the errors alone, and holds the value.
    """
    base = evaluate(cluster, 1.0)
    rng = np.random.default_rng(seed)
    sizes = np.abs(rng.choice(np.array(errors.log_errors or (0.0,)), draws)) + errors.widening
    factors = np.exp(sizes * rng.choice((-1.0, 1.0), draws))
    clusters = drawn_clusters(cluster, seed, draws)
    samples = [evaluate(one, float(factor)) for one, factor in zip(clusters, factors, strict=True)]
    width = half_width(errors)
    ends = [evaluate(cluster, math.exp(sign * width)) for sign in (-1, 1)] if math.isfinite(width) else [base]
    result = {}
    for metric, value in base.items():
        low, high = quantiles(samples, metric)
        edges = [value, low, high, *(end[metric] for end in ends)]
        result[metric] = Estimate(value=value, low=min(edges), high=max(edges))
    return result


def origin_of_range(errors: Residuals) -> str:
    """Say what the ranges of an answer are made of."""
    return f"the range is made of the model's errors on {errors.group}, and of the figures' ranges"


def tight(memory: Estimate, capacity_bytes: float, remedy: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Warn when the memory may not suffice at the high end of its range, and say what would."""
    if memory.high <= capacity_bytes:
        return ()
    high, capacity = show(memory.high, "B"), show(capacity_bytes, "B")
    warning = f"the layout may not fit: at the high end of its range it needs {high} of {capacity}"
    return ("; ".join((warning, *remedy)),)
