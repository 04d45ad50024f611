"""Which figures an answer rests on, found by moving each of them, and what their ranges do to the answer."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rooftree.facts.hardware import Cluster
from rooftree.facts.parts import walk, with_figure, with_figures
from rooftree.facts.sources import Figure
from rooftree.studies.results import FigureUse

Metrics = Mapping[str, float]
Evaluate = Callable[[Cluster], Metrics]
Place = tuple[str, str, str]

NOTICED = 1e-3  # pure: 0.1 % of a metric
NUDGE = 0.01  # pure: 1 % of a figure


def figures_used(cluster: Cluster, evaluate: Evaluate) -> tuple[FigureUse, ...]:
    """Return every figure that moves a metric by more than 0.1 %, assumed ones first, then by how much they move it.

    A figure with a range is taken at its low and its high; an exact one at 1 % less and more. Counts stay as they are.
    Each figure is listed with the metric that it moves most.
    """
    base = evaluate(cluster)
    uses = []
    for kind, name, key, figure in walk(cluster):
        if is_count(figure):
            continue
        low, high = (figure.low, figure.high) if not figure.exact else _nudged(figure.value)
        at_low = evaluate(with_figure(cluster, kind, name, key, low))
        at_high = evaluate(with_figure(cluster, kind, name, key, high))
        use = _most_moved(f"{kind} {name}", key, figure, base, at_low, at_high)
        if use is not None:
            uses.append(use)
    return tuple(sorted(uses, key=lambda use: (use.figure.basis != "assumed", -_size(use), use.part, use.key)))


def drawn_clusters(cluster: Cluster, seed: int, draws: int) -> list[Cluster]:
    """Return copies of a cluster whose uncertain figures are drawn from their ranges, independently.

    Each figure has the triangular distribution between its low and high with its value as the mode.
    """
    rng = np.random.default_rng(seed)
    uncertain = [
        ((kind, name, key), figure)
        for kind, name, key, figure in walk(cluster)
        if not figure.exact and not is_count(figure)
    ]
    columns = {
        place: rng.triangular(figure.low, figure.value, figure.high, draws).tolist() for place, figure in uncertain
    }
    return [with_figures(cluster, {place: column[draw] for place, column in columns.items()}) for draw in range(draws)]


def is_count(figure: Figure) -> bool:
    """Whether a figure is a whole number of things, which has no neighbourhood to look at."""
    return figure.unit == "1" and figure.exact and float(figure.value).is_integer()


def _nudged(value: float) -> tuple[float, float]:
    """Return a little less and a little more."""
    return value * (1 - NUDGE), value * (1 + NUDGE)


def _most_moved(
    part: str, key: str, figure: Figure, base: Metrics, at_low: Metrics, at_high: Metrics
) -> FigureUse | None:
    """Return the use of a figure by the metric that it moves most; none when it moves nothing."""

    def effects(metric: str) -> tuple[float, float]:
        value = base[metric]
        return (at_low[metric] / value - 1, at_high[metric] / value - 1) if value else (0.0, 0.0)

    headline = next(iter(base))
    moved = {metric: max(map(abs, effects(metric))) for metric in base}
    if max(moved.values()) <= NOTICED:
        return None
    # A figure is shown by what it does to the headline when it does anything there.
    metric = headline if moved[headline] > NOTICED else max(moved, key=lambda name: moved[name])
    low, high = effects(metric)
    return FigureUse(part=part, key=key, figure=figure, metric=metric, effect_low=low, effect_high=high)


def _size(use: FigureUse) -> float:
    """Return the larger of the two effects."""
    return max(abs(use.effect_low), abs(use.effect_high))


def quantiles(samples: Sequence[Metrics], metric: str) -> tuple[float, float]:
    """Return the 5 % and the 95 % quantile of a metric."""
    low, high = np.quantile([sample[metric] for sample in samples], (0.05, 0.95))
    return float(low), float(high)
