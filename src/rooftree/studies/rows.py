"""Measured rows as questions: what the model says for the conditions of a published run.

A row is read from its conditions alone; its id, source and split are never inputs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from rooftree.errors import NotModelled
from rooftree.facts.catalogue import Catalogue, cluster, names, precision
from rooftree.facts.hardware import Cluster
from rooftree.facts.measurements import Measurement
from rooftree.facts.workloads import Serving, Training
from rooftree.models.collectives import timing
from rooftree.models.layout import Layout, Recompute, Shard, faults
from rooftree.models.steady import Replica
from rooftree.models.step import Case, step_times
from rooftree.studies.binding import CORE, model_named
from rooftree.studies.search import domain_of, equal_chunks, spread
from rooftree.studies.serve import serve

MEASURED_LAYERS = ("shipped", "fitted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A measured row with the model's value for it. `log_time_error` is ln(measured / predicted) of the time."""

    row: Measurement
    predicted: float
    log_time_error: float
    mixture: bool

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.row.value - 1


def cluster_with(catalogue: Catalogue, accelerator: str) -> Cluster:
    """Return a cluster of the catalogue that has the accelerator; raises NotModelled when none has."""
    for name in names(catalogue, "cluster"):
        found = cluster(catalogue, name)
        if found.rack.host.accelerator.name == accelerator:
            return found
    raise NotModelled(f"no cluster of the catalogue has the accelerator {accelerator}")


def measured_parts(catalogue: Catalogue) -> Catalogue:
    """Return the catalogue without the user's layers, whose figures no run was measured with."""
    own = tuple(layer for layer in catalogue.layers if layer.name in MEASURED_LAYERS)
    return catalogue if len(own) == len(catalogue.layers) else Catalogue(own)


def training_case(row: Measurement, catalogue: Catalogue) -> Case:
    """Return the training job of a row.

    Data parallelism fills the stated number of devices; an empty interleave with a pipeline is read as one layer a
    chunk, which the sources that leave it out use. Raises NotModelled when the layout does not divide.
    """
    model = model_named(row.conditions["model"], catalogue)
    on = cluster_with(catalogue, row.accelerator)
    tensor, pipeline, context = row.count("tensor"), row.count("pipeline"), row.count("context")
    layout = Layout(
        tensor=tensor,
        pipeline=pipeline,
        context=context,
        data=row.devices // (tensor * pipeline * context),
        expert=row.count("expert"),
        microbatch=row.count("microbatch"),
        interleave=row.count("interleave", max(equal_chunks(model.layers, pipeline))),
        recompute=_recompute(row.conditions["recompute"]),
        shard=_shard(row.conditions["shard"]),
    )
    batch = row.count("global_batch")
    found = faults(layout, model, row.devices, batch)
    if found:
        raise NotModelled(f"{row.id}: " + "; ".join(found))
    workload = Training(
        global_batch=batch,
        sequence=row.count("sequence"),
        precision=row.conditions["precision"],
        prediction=row.conditions["prediction"] == "yes",
    )
    return Case(
        model=model,
        layout=layout,
        workload=workload,
        cluster=on,
        linear=precision(catalogue, workload.precision),
        core=precision(catalogue, CORE),
        domain=domain_of(on, row.devices),
    )


def predict_training(row: Measurement, catalogue: Catalogue) -> Predicted:
    """Predict a training row in the row's own metric."""
    case = training_case(row, catalogue)
    step_s = sum(step_times(case).values())
    tokens = case.workload.global_batch * case.workload.sequence
    values = {"step_s": step_s, "tokens_per_s_per_accelerator": tokens / step_s / row.devices}
    return _compared(row, values, mixture=case.model.experts is not None)


def predict_serving(row: Measurement, catalogue: Catalogue) -> Predicted:
    """Predict a serving row in the row's own metric.

    Without a stated concurrency the engine holds as many sequences as its memory allows.
    """
    on = cluster_with(catalogue, row.accelerator)
    layout = Layout(
        tensor=row.count("tensor"),
        pipeline=row.count("pipeline"),
        data=row.count("data"),
        expert=row.count("expert"),
    )
    replicas = max(1, row.devices // layout.devices)
    concurrency = row.count("concurrency", 0)
    workload = Serving(
        input_tokens=row.count("input_tokens"),
        output_tokens=row.count("output_tokens"),
        precision=row.conditions["precision"],
        kv_precision=row.conditions["kv_precision"],
        concurrency=max(1, concurrency // replicas) if concurrency else 0,
        time_per_output_token_limit_s=0.0,
    )
    replica = Replica(
        model=model_named(row.conditions["model"], catalogue),
        layout=layout,
        workload=workload,
        cluster=on,
        linear=precision(catalogue, workload.precision),
        core=precision(catalogue, CORE),
        kv=precision(catalogue, workload.kv_precision),
        domain=min(on.rack.domain_accelerators, row.devices),
    )
    served = serve(replica, row.devices)
    if served is None:
        raise NotModelled(f"{row.id}: the model holds more memory than the device has")
    values = {
        "tokens_per_s": served.tokens_per_s,
        "tokens_per_s_per_accelerator": served.tokens_per_s / row.devices,
        "time_per_output_token_s": served.iteration_s,
    }
    return _compared(row, values, mixture=replica.model.experts is not None)


def predict_collective(row: Measurement, catalogue: Catalogue) -> Predicted:
    """Predict the time of a measured collective: by the algorithm that the row states, else by the fastest."""
    on = cluster_with(catalogue, row.accelerator)
    group = spread(on, row.devices)
    found = timing(row.quantity, float(row.conditions["bytes"]), group, on.rack.scale_up, on.scale_out)
    predicted_s = found.alternatives_s.get(row.conditions["algorithm"], found.time_s)
    return _compared(row, {row.quantity: predicted_s}, mixture=False)


def predict_all(
    rows: Sequence[Measurement], catalogue: Catalogue, predict: Callable[[Measurement, Catalogue], Predicted]
) -> tuple[list[Predicted], list[tuple[Measurement, str]]]:
    """Predict every row; rows that are not modelled come back with the reason."""
    done, refused = [], []
    for row in rows:
        try:
            done.append(predict(row, catalogue))
        except NotModelled as fault:
            refused.append((row, str(fault)))
    return done, refused


def _compared(row: Measurement, values: dict[str, float], *, mixture: bool) -> Predicted:
    """Pick the row's metric; rates count inversely as times."""
    if row.quantity not in values:
        raise NotModelled(f"{row.id}: metric {row.quantity} is not modelled")
    predicted = values[row.quantity]
    ratio = log(row.value / predicted)
    return Predicted(
        row=row,
        predicted=predicted,
        log_time_error=ratio if row.unit == "s" else -ratio,
        mixture=mixture,
    )


def _recompute(text: str) -> Recompute:
    """Read a recompute setting."""
    return "full" if text == "full" else "selective" if text == "selective" else "none"


def _shard(text: str) -> Shard:
    """Read a sharding setting."""
    return "full" if text == "full" else "none" if text == "none" else "optimizer"
