"""A training question answered: the layout, its metrics with ranges, and what the answer rests on."""

from collections.abc import Mapping
from dataclasses import replace

from rooftree.facts.catalogue import Catalogue
from rooftree.facts.hardware import Cluster
from rooftree.facts.measurements import table
from rooftree.facts.parts import walk, with_figures
from rooftree.models.cost import usd_per_million_tokens
from rooftree.models.memory import training_bytes
from rooftree.models.power import cluster_w
from rooftree.models.step import NETWORK_PARTS, Case, model_flops_per_token, step_times
from rooftree.studies.neighbours import beyond_measured, leaning, nearest_rows, what_if
from rooftree.studies.parts_of import slices
from rooftree.studies.questions import TrainingQuestion
from rooftree.studies.results import Alternative, Answer
from rooftree.studies.rows import measured_parts, predict_all, predict_training
from rooftree.studies.search import Candidate, Found, Progress, search_training
from rooftree.studies.sensitivity import figures_used
from rooftree.studies.uncertainty import estimates, origin_of_range, residuals, tight

SHOWN = 5
SHOWN_PARTS = 3
MEMORY_FIGURES = (("accelerator", "memory_bytes"), ("stack", "reserved_bytes"), ("stack", "parameter_bytes"))
TOLD = 0.001  # pure: a thousandth of a step


def metrics(case: Case, devices: int, factor: float = 1.0) -> dict[str, float]:
    """Return all metrics of a training job, `step_s` first; `factor` multiplies the model's time."""
    times_s, workload, cluster = step_times(case), case.workload, case.cluster
    step_s = sum(times_s.values()) * factor
    tokens_per_s = workload.global_batch * workload.sequence / step_s
    flops_per_token = model_flops_per_token(case.model, workload.sequence, case.share, prediction=workload.prediction)
    accelerator = cluster.rack.host.accelerator
    rate_flops_per_s = flops_per_token * tokens_per_s / devices
    power_w = sum(cluster_w(cluster, devices, accelerator.training_power_fraction).values())
    held_bytes = training_bytes(case.model, case.layout, workload, cluster.stack, case.linear, case.core)
    busy_s = sum(times_s.values())
    return {
        "step_s": step_s,
        "tokens_per_s": tokens_per_s,
        "tokens_per_s_per_accelerator": tokens_per_s / devices,
        "model_flops_per_s_per_accelerator": rate_flops_per_s,
        "mfu": rate_flops_per_s / accelerator.peak_flops_per_s[case.linear.peak],
        "network_share": sum(times_s[part] for part in NETWORK_PARTS) / busy_s,
        "bubble_share": times_s["pipeline bubble"] / busy_s,
        "memory_bytes": sum(held_bytes.values()),
        "power_w": power_w,
        "energy_j_per_token": power_w / tokens_per_s,
        "usd_per_million_tokens": usd_per_million_tokens(devices, cluster.prices.accelerator_usd_per_h, tokens_per_s),
    }


def find(question: TrainingQuestion, progress: Progress) -> Found:
    """Return the layouts to answer with: the user's alone, or all that fit, the fastest first."""
    if not question.chosen:
        return search_training(question.case, question.devices, progress)
    times_s = step_times(question.case)
    return Found([Candidate(question.case, times_s, sum(times_s.values()))], 1)


def runners_up(found: Found) -> tuple[Alternative, ...]:
    """Return the next best layouts that differ in a parallel size from those before, and which parts cost them time."""
    best, shown = found.candidates[0], []
    seen = {_sizes(best.case)}
    for other in found.candidates[1:]:
        if _sizes(other.case) in seen:
            continue
        seen.add(_sizes(other.case))
        shown.append(Alternative(layout=str(other.case.layout), headline=other.step_s, why=why(best, other)))
        if len(shown) == SHOWN:
            break
    return tuple(shown)


def why(best: Candidate, other: Candidate) -> str:
    """Say what a layout loses to the best, in all and by the parts that change most, in per cent of the best's step."""
    changes = {part: (other.times_s[part] - best.times_s[part]) / best.step_s for part in best.times_s}
    most = sorted((part for part in changes if abs(changes[part]) >= TOLD), key=lambda part: -abs(changes[part]))
    words = ", ".join(f"{part} {changes[part]:+.1%}" for part in most[:SHOWN_PARTS])
    total = f"{other.step_s / best.step_s - 1:+.1%} in all"
    return f"{total}: {words}" if words else total


def careful(cluster: Cluster) -> Cluster:
    """Return a cluster whose figures leave a model the least memory that their ranges allow."""
    worst = {
        (kind, name, key): figure.high if kind == "stack" else figure.low
        for kind, name, key, figure in walk(cluster)
        if (kind, key.partition(".")[0]) in MEMORY_FIGURES
    }
    return with_figures(cluster, worst)


def surely_fits(found: Found) -> tuple[str, ...]:
    """Name the fastest layout that fits at the far end of every memory figure, when the fastest one does not."""
    best = found.candidates[0]
    worst = careful(best.case.cluster)
    capacity_bytes = worst.rack.host.accelerator.memory_bytes
    for other in found.candidates:
        case = other.case
        held_bytes = training_bytes(case.model, case.layout, case.workload, worst.stack, case.linear, case.core)
        if sum(held_bytes.values()) <= capacity_bytes:
            slower = f"{other.step_s / best.step_s - 1:+.1%}"
            return () if other is best else (f"'{case.layout}' fits even so, {slower}",)
    return ("no other layout that was looked at fits even so",)


def _sizes(case: Case) -> tuple[int, ...]:
    """Return the sizes that make layouts different in a reader's eyes."""
    layout = case.layout
    return layout.tensor, layout.pipeline, layout.context, layout.expert


def answer(question: TrainingQuestion, catalogue: Catalogue, seed: int, progress: Progress) -> Answer:
    """Answer a training question."""
    found = find(question, progress)
    best, devices = found.candidates[0], question.devices
    case = best.case
    progress("measured runs", 0.0)
    done, _ = predict_all(table("training").rows, measured_parts(catalogue), predict_training)
    mixture, accelerator = case.model.experts is not None, case.cluster.rack.host.accelerator.name
    precision = case.workload.precision
    beyond = beyond_measured(done, accelerator=accelerator, precision=precision, mixture=mixture, devices=devices)
    beyond = (*beyond, *what_if(case.cluster))
    errors = residuals(done, mixture=mixture, precision=precision, beyond=bool(beyond))
    lean = leaning(done, accelerator=accelerator, precision=precision, mixture=mixture)

    def evaluate(cluster: Cluster, factor: float = 1.0) -> Mapping[str, float]:
        return metrics(replace(case, cluster=cluster), devices, factor)

    progress("ranges", 0.0)
    ranges = estimates(case.cluster, evaluate, errors, seed)
    capacity_bytes = case.cluster.rack.host.accelerator.memory_bytes
    held_bytes = training_bytes(case.model, case.layout, case.workload, case.cluster.stack, case.linear, case.core)
    fits = surely_fits(found)
    return Answer(
        question="training",
        title=f"Training {case.model.title} on {devices:,} {case.cluster.rack.host.accelerator.title}",
        metrics=ranges,
        layout=described(case, devices),
        time=slices(best.times_s),
        memory=slices(held_bytes),
        memory_capacity_bytes=capacity_bytes,
        extrapolated=bool(beyond),
        validity=(*beyond, *lean, origin_of_range(errors), *tight(ranges["memory_bytes"], capacity_bytes, fits)),
        neighbours=nearest_rows(
            done,
            model=case.model.name,
            accelerator=accelerator,
            precision=precision,
            mixture=mixture,
            devices=devices,
        ),
        alternatives=runners_up(found),
        candidates=found.looked_at,
        notes=case.model.notes,
        figures=figures_used(case.cluster, evaluate),
    )


def described(case: Case, devices: int) -> dict[str, int | str]:
    """Return the layout and what goes with it, for a reader."""
    layout = case.layout
    return {
        "gpus": devices,
        "gpus_per_domain": case.domain,
        "tensor": layout.tensor,
        "pipeline": layout.pipeline,
        "data": layout.data,
        "context": layout.context,
        "expert": layout.expert,
        "microbatch": layout.microbatch,
        "microbatches": case.microbatches,
        "interleave": layout.interleave,
        "recompute": layout.recompute,
        "shard": layout.shard,
        "precision": case.workload.precision,
        "global_batch": case.workload.global_batch,
        "sequence": case.workload.sequence,
    }
