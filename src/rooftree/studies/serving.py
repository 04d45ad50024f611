"""A serving question answered: the replica, its metrics with ranges, and what the answer rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rooftree.errors import DoesNotFit
from rooftree.facts.catalogue import Catalogue
from rooftree.facts.hardware import Cluster
from rooftree.facts.measurements import table
from rooftree.models.cost import usd_per_million_tokens
from rooftree.models.power import cluster_w
from rooftree.models.steady import NETWORK_PARTS, first_token_s, mixed_times
from rooftree.studies.neighbours import beyond_measured, leaning, nearest_rows, what_if
from rooftree.studies.parts_of import slices
from rooftree.studies.questions import ServingQuestion
from rooftree.studies.results import Alternative, Answer, Estimate
from rooftree.studies.rows import measured_parts, predict_all, predict_serving
from rooftree.studies.search import Progress
from rooftree.studies.sensitivity import figures_used
from rooftree.studies.serve import Served, memory, nothing_serves, search_serving, serve
from rooftree.studies.uncertainty import estimates, origin_of_range, residuals, tight
from rooftree.units import show

SHOWN = 5


def metrics(served: Served, devices: int, cluster: Cluster, factor: float = 1.0) -> dict[str, float]:
    """Return all metrics of a way to serve on a cluster, `tokens_per_s` first; `factor` multiplies the model's time.

    The number of sequences stays as it was chosen, whatever the figures of the cluster.
    """
    replica = replace(served.replica, cluster=cluster)
    times_s = mixed_times(replica, served.sequences)
    iteration_s = sum(times_s.values())
    tokens_per_s = served.held / iteration_s / factor
    accelerator = cluster.rack.host.accelerator
    power_w = sum(cluster_w(cluster, devices, accelerator.serving_power_fraction).values())
    return {
        "tokens_per_s": tokens_per_s,
        "tokens_per_s_per_accelerator": tokens_per_s / devices,
        "time_per_output_token_s": iteration_s * factor,
        "time_to_first_token_s": first_token_s(replica, times_s) * factor,
        "requests_per_s": tokens_per_s / replica.workload.output_tokens,
        "network_share": sum(times_s[part] for part in NETWORK_PARTS) / iteration_s,
        "memory_bytes": sum(memory(replica, served.sequences).values()),
        "power_w": power_w,
        "energy_j_per_token": power_w / tokens_per_s,
        "usd_per_million_tokens": usd_per_million_tokens(devices, cluster.prices.accelerator_usd_per_h, tokens_per_s),
    }


def find(question: ServingQuestion) -> tuple[Sequence[Served], int]:
    """Return the ways to serve: the user's replica alone, or all that fit, the most tokens per second first."""
    if not question.chosen:
        return search_serving(question.replica, question.devices)
    served = serve(question.replica, question.devices)
    if served is None:
        raise DoesNotFit(nothing_serves(question.replica, [question.replica.layout]))
    return [served], 1


def runners_up(found: Sequence[Served]) -> tuple[Alternative, ...]:
    """Return the next best replicas and why they lose."""
    best = found[0]
    return tuple(
        Alternative(layout=str(other.replica.layout), headline=other.tokens_per_s, why=why(best, other))
        for other in found[1 : 1 + SHOWN]
    )


def why(best: Served, other: Served) -> str:
    """Say what costs a replica throughput: fewer sequences at once, or a longer time between their tokens."""
    words = []
    if other.held < best.held:
        words.append(f"sequences at once {other.held / best.held - 1:+.0%}")
    if other.iteration_s > best.iteration_s:
        words.append(f"time per token {other.iteration_s / best.iteration_s - 1:+.0%}")
    return ", ".join(words) or "equal"


def answer(question: ServingQuestion, catalogue: Catalogue, seed: int, progress: Progress) -> Answer:
    """Answer a serving question."""
    progress("replicas", 0.0)
    found, looked_at = find(question)
    best, devices = found[0], question.devices
    replica = best.replica
    progress("measured runs", 0.0)
    done, _ = predict_all(table("inference").rows, measured_parts(catalogue), predict_serving)
    mixture, accelerator = replica.model.experts is not None, replica.cluster.rack.host.accelerator
    precision = replica.workload.precision
    beyond = beyond_measured(done, accelerator=accelerator.name, precision=precision, mixture=mixture, devices=devices)
    beyond = (*beyond, *what_if(replica.cluster))
    errors = residuals(done, mixture=mixture, precision=precision, beyond=bool(beyond))
    lean = leaning(done, accelerator=accelerator.name, precision=precision, mixture=mixture)

    def evaluate(cluster: Cluster, factor: float = 1.0) -> Mapping[str, float]:
        return metrics(best, devices, cluster, factor)

    progress("ranges", 0.0)
    ranges = estimates(replica.cluster, evaluate, errors, seed)
    fits = tight(ranges["memory_bytes"], accelerator.memory_bytes)
    slow = late(ranges["time_per_output_token_s"], replica.workload.time_per_output_token_limit_s)
    return Answer(
        question="serving",
        title=f"Serving {replica.model.title} on {devices:,} {accelerator.title}",
        metrics=ranges,
        layout=described(best, devices),
        time=slices(best.times_s),
        memory=slices(memory(replica, best.sequences)),
        memory_capacity_bytes=accelerator.memory_bytes,
        extrapolated=bool(beyond),
        validity=(*beyond, *lean, origin_of_range(errors), *fits, *slow),
        neighbours=nearest_rows(
            done,
            model=replica.model.name,
            accelerator=accelerator.name,
            precision=precision,
            mixture=mixture,
            devices=devices,
        ),
        alternatives=runners_up(found),
        candidates=looked_at,
        notes=(*replica.model.notes, *remarks(best, devices)),
        figures=figures_used(replica.cluster, evaluate),
    )


def late(time_per_token: Estimate, limit_s: float) -> tuple[str, ...]:
    """Say that a limit is met at the central value alone."""
    if limit_s == 0 or time_per_token.high <= limit_s:
        return ()
    high, limit = show(time_per_token.high, "s"), show(limit_s, "s")
    return (f"the limit of {limit} a token is met at the central value; at the slow end it takes {high}",)


def remarks(served: Served, devices: int) -> tuple[str, ...]:
    """Say what a reader should know of the way to serve."""
    idle = devices - served.replicas * served.replica.layout.devices
    words: tuple[str, ...] = (
        (f"{idle} GPUs stand idle: replicas of {served.replica.layout.devices} do not fill {devices}",) if idle else ()
    )
    stated = served.replica.workload.concurrency
    if stated and served.in_flight < stated * (1 - 1e-6):
        words += (f"of {stated:,} requests a replica, memory and limit let {served.in_flight:,.0f} in; the rest wait",)
    return (*words, "without speculative decoding, prefix reuse or a split of prefill and decode")


def described(served: Served, devices: int) -> dict[str, int | str]:
    """Return the replica and what goes with it, for a reader."""
    layout, workload = served.replica.layout, served.replica.workload
    return {
        "gpus": devices,
        "replicas": served.replicas,
        "gpus_per_replica": layout.devices,
        "tensor": layout.tensor,
        "pipeline": layout.pipeline,
        "attention ranks": layout.data,
        "expert": layout.expert,
        "sequences_per_replica": round(served.sequences * layout.data * layout.pipeline),
        "precision": workload.precision,
        "kv_precision": workload.kv_precision,
        "input_tokens": workload.input_tokens,
        "output_tokens": workload.output_tokens,
    }
