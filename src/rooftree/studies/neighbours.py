"""The measured runs nearest to a question, what the model says for them, and whether the question lies beyond them."""

import math
from collections.abc import Sequence
from statistics import median

from rooftree.facts.hardware import Cluster
from rooftree.facts.parts import walk
from rooftree.studies.results import Neighbour
from rooftree.studies.rows import MEASURED_LAYERS, Predicted

SHOWN = 6
FEWEST = 3
LEANING = 0.1
_APART = {"model": 2.0, "accelerator": 2.0, "precision": 1.0, "mixture": 4.0}


def distance(one: Predicted, *, model: str, accelerator: str, precision: str, mixture: bool, devices: int) -> float:
    """How unlike a measured run is to a question: doublings of the number of devices, and a toll for each difference.

    A dense model in place of a mixture of experts counts four doublings, another model or accelerator two, another
    precision one.
    """
    row = one.row
    apart = abs(math.log2(row.devices / devices))
    apart += _APART["model"] * (row.conditions["model"] != model)
    apart += _APART["accelerator"] * (row.accelerator != accelerator)
    apart += _APART["precision"] * (row.conditions["precision"] != precision)
    return apart + _APART["mixture"] * (one.mixture != mixture)


def nearest_rows(
    done: Sequence[Predicted], *, model: str, accelerator: str, precision: str, mixture: bool, devices: int
) -> tuple[Neighbour, ...]:
    """Return the measured runs nearest to a question, the nearest first."""

    def apart(one: Predicted) -> float:
        return distance(
            one, model=model, accelerator=accelerator, precision=precision, mixture=mixture, devices=devices
        )

    chosen = sorted(done, key=lambda one: (apart(one), one.row.id))[:SHOWN]
    return tuple(
        Neighbour(
            id=one.row.id,
            what=what(one),
            accelerators=one.row.devices,
            metric=one.row.quantity,
            unit=one.row.unit,
            measured=one.row.value,
            predicted=one.predicted,
            error=one.error,
            split=one.row.split,
            source=one.row.source,
            distance=apart(one),
        )
        for one in chosen
    )


def what(one: Predicted) -> str:
    """Describe a measured run in a few words."""
    conditions = one.row.conditions
    sizes = [("tp", "tensor"), ("cp", "context"), ("pp", "pipeline"), ("ep", "expert"), ("vp", "interleave")]
    layout = [f"{short}{conditions[key]}" for short, key in sizes if conditions.get(key, "") not in ("", "1")]
    words = [conditions["model"], one.row.accelerator, conditions["precision"], *layout, conditions.get("mode", "")]
    if "input_tokens" in conditions:
        words.append(f"{conditions['input_tokens']}/{conditions['output_tokens']}")
    if "doubtful" in conditions.get("flags", ""):
        words.append("(label doubted)")
    return " ".join(word for word in words if word)


def leaning(done: Sequence[Predicted], *, accelerator: str, precision: str, mixture: bool) -> tuple[str, ...]:
    """Say when the model errs to one side on the measured runs most like the question, and by how much.

    Those are the fit rows of the same kind of model in the same precision, on the same accelerator when three of them
    were measured. Nothing is said when a tenth of the time or less is at stake.
    """
    fit = [one for one in done if one.row.split == "fit"]  # test rows set nothing, not even a warning
    like = [one for one in fit if one.mixture == mixture and one.row.conditions["precision"] == precision]
    same = [one for one in like if one.row.accelerator == accelerator]
    rows = same if len(same) >= FEWEST else like
    errors = [one.log_time_error for one in rows]
    if len(rows) < FEWEST or abs(median(errors)) < LEANING or any(error * median(errors) < 0 for error in errors):
        return ()
    which, end = ("too fast", "slow") if median(errors) > 0 else ("too slow", "fast")
    kind = "mixture-of-experts" if mixture else "dense"
    runs = f"all {len(rows)} {kind} {precision} fit rows" + (f" on {accelerator}" if rows is same else "")
    off = abs(math.expm1(median(errors)))
    longer = "longer" if median(errors) > 0 else "shorter"
    truth = f"the true time is {off:.0%} {longer} in the middle, expect the {end} end"
    return (f"the model is {which} on {runs}: {truth}",)


def what_if(cluster: Cluster) -> tuple[str, ...]:
    """Say when figures of a cluster come from the user's catalogue, for nothing was measured with them."""
    layers = [figure.layer for *_, figure in walk(cluster) if figure.layer not in MEASURED_LAYERS]
    return tuple(
        f"{layers.count(name)} figures come from your catalogue {name}, with which nothing was measured"
        for name in dict.fromkeys(layers)
    )


def beyond_measured(
    done: Sequence[Predicted], *, accelerator: str, precision: str, mixture: bool, devices: int
) -> tuple[str, ...]:
    """Say in which ways a question lies beyond the measured runs; nothing when it lies within."""
    same = [one for one in done if one.row.accelerator == accelerator]
    kind = "mixture-of-experts" if mixture else "dense"
    if not same:
        return (f"no run on {accelerator} was measured",)
    like = [one for one in same if one.mixture == mixture]
    if not like:
        return (f"no {kind} run on {accelerator} was measured",)
    words = []
    if all(one.row.conditions["precision"] != precision for one in like):
        words.append(f"no {kind} run in {precision} on {accelerator} was measured")
    largest = max(like, key=lambda one: one.row.devices).row
    if devices > largest.devices:
        times = devices / largest.devices
        where = f"{largest.id}, {largest.devices:,} GPUs"
        scale = f"{devices:,} GPUs are {times:.1f} times the largest measured {kind} run on {accelerator}"
        words.append(f"{scale} ({where})")
    return tuple(words)
