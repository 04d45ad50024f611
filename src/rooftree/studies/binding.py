"""Bind the keys of a scenario to the catalogue: every name looked up, every fault told at once."""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from rooftree.errors import RooftreeError, ScenarioError
from rooftree.facts.architectures import Transformer
from rooftree.facts.catalogue import Catalogue, architecture, cluster, precision
from rooftree.facts.hardware import Cluster
from rooftree.facts.workloads import Serving, Training
from rooftree.files import placed, shown, stands, visible
from rooftree.formats.huggingface import read_config
from rooftree.models.layout import Layout, Recompute, Shard
from rooftree.models.steady import Replica
from rooftree.models.step import Case
from rooftree.studies.questions import Scenario, ServingQuestion, TrainingQuestion
from rooftree.studies.scenario_file import LayoutKeys, ScenarioKeys, ServingKeys, TrainingKeys
from rooftree.studies.search import check_layout, domain_of
from rooftree.studies.serve import check_replica
from rooftree.units import parse

CORE = "bf16"
CONFIG = "config.json"
LIMIT = "time_per_output_token_limit"
_Value = TypeVar("_Value")


class _Faults:
    """Faults of one table of a scenario; `get` runs a look-up and keeps what it raises."""

    def __init__(self, prefix: str) -> None:
        self.prefix, self.lines = prefix, list[str]()

    def get(self, look_up: Callable[[], _Value]) -> _Value | None:
        """Return what `look_up` finds, or nothing and one more fault."""
        try:
            return look_up()
        except RooftreeError as fault:
            self.lines += [f"{self.prefix}: {line}" for line in fault.faults]
            return None

    def need(self, key: str, value: int, least: int, most: int) -> None:
        """Check that a number lies in a range."""
        if not least <= value <= most:
            self.lines.append(f"{self.prefix}.{key} = {value}: must be {least} to {most:,}; write one in between")


def _limit_s(text: str) -> float:
    """Read the limit of the time per output token; 0 for none."""
    if not text:
        return 0.0
    limit_s = parse(text, "s")
    if limit_s <= 0:
        raise ScenarioError(f"'{visible(text)}' is not above 0; leave it out for no limit")
    return limit_s


def model_named(name: str, catalogue: Catalogue, base: Path = Path()) -> Transformer:
    """Return an architecture: of the catalogue by name, or of a config.json or its folder by path, from `base` on."""
    inside = base / name / CONFIG
    if name.endswith(".json") or "/" in name or stands(inside):
        return read_config(inside if stands(inside) else base / name)
    return architecture(catalogue, name)


def name_faults(table: dict[str, Any], catalogue: Catalogue, base: Path) -> list[str]:
    """Faults of the names and quantities of a table whose keys are not all right."""
    look_ups: dict[str, Callable[[str], object]] = {
        "cluster": lambda name: cluster(catalogue, name),
        "model": lambda name: model_named(name, catalogue, base),
        "precision": lambda name: precision(catalogue, name),
        "kv_precision": lambda name: precision(catalogue, name),
        LIMIT: _limit_s,
    }
    lines: list[str] = []
    for prefix in ("", "training", "serving"):
        part = table.get(prefix) if prefix else table
        for key, text in part.items() if isinstance(part, dict) else ():
            if key in look_ups and isinstance(text, str) and (key == "cluster") == (not prefix):
                faults = _Faults(f"{prefix}.{key}" if key == LIMIT else prefix or key)
                faults.get(partial(look_ups[key], text))
                lines += faults.lines
    return lines


def bind(keys: ScenarioKeys, text: str, catalogue: Catalogue, label: str, base: Path) -> Scenario:
    """Look up every name of a scenario and check that its parts fit together.

    Raises ScenarioError with every fault at once; `base` is where relative paths start.
    """
    lines = [] if keys.seed >= 0 else [f"seed = {keys.seed}: is below 0; write 0 or more"]
    top = _Faults("cluster")
    on = top.get(lambda: cluster(catalogue, keys.cluster))
    lines += top.lines
    if keys.training is None and keys.serving is None:
        lines.append("training, serving: neither is there; add a table [training] or [serving]")
    training = serving = None
    if keys.training is not None:
        training, found = _training(keys.training, on, catalogue, base)
        lines += found
    if keys.serving is not None:
        serving, found = _serving(keys.serving, on, catalogue, base)
        lines += found
    if lines or on is None:
        raise ScenarioError(*(placed(label, line) for line in dict.fromkeys(lines)))
    return Scenario(
        title=keys.title,
        cluster=on,
        catalogue=catalogue,
        training=training,
        serving=serving,
        seed=keys.seed,
        text=text,
    )


def _common(
    keys: TrainingKeys | ServingKeys, faults: _Faults, on: Cluster | None, catalogue: Catalogue, base: Path
) -> Transformer | None:
    """Check what both kinds of question have, and return the architecture."""
    form = faults.get(lambda: precision(catalogue, keys.precision))
    if on is not None:
        total = on.racks * on.rack.hosts * on.rack.host.accelerators
        faults.need("gpus", keys.gpus, 1, total)
        if keys.gpus_per_domain:
            faults.need("gpus_per_domain", keys.gpus_per_domain, 1, on.rack.domain_accelerators)
        accelerator = on.rack.host.accelerator
        if form is not None and form.peak not in accelerator.peak_flops_per_s:
            able = ", ".join(sorted(accelerator.peak_flops_per_s))
            faults.lines.append(
                f"{faults.prefix}.precision = {keys.precision}: {accelerator.name} has no rate for it; use {able}"
            )
    return faults.get(lambda: model_named(keys.model, catalogue, base))


def _training(
    keys: TrainingKeys, on: Cluster | None, catalogue: Catalogue, base: Path
) -> tuple[TrainingQuestion | None, list[str]]:
    """Bind the table `training`; a question, or its faults."""
    faults = _Faults("training")
    model = _common(keys, faults, on, catalogue, base)
    faults.need("global_batch", keys.global_batch, 1, 10**7)
    faults.need("sequence", keys.sequence, 1, 10**8)
    if model is not None and keys.prediction and not model.prediction_layers:
        faults.lines.append(f"training.prediction: {model.name} has no layers for further tokens; leave it out")
    layout = _layout(keys.layout, keys.gpus, faults)
    if faults.lines or on is None or model is None:
        return None, faults.lines
    case = Case(
        model=model,
        layout=layout,
        workload=Training(
            global_batch=keys.global_batch,
            sequence=keys.sequence,
            precision=keys.precision,
            prediction=keys.prediction,
        ),
        cluster=on,
        linear=precision(catalogue, keys.precision),
        core=precision(catalogue, CORE),
        domain=keys.gpus_per_domain or domain_of(on, keys.gpus),
    )
    found = [f"training: {line}" for line in check_layout(case, keys.gpus)] if keys.layout is not None else []
    return TrainingQuestion(case=case, devices=keys.gpus, chosen=keys.layout is not None), found


def _serving(
    keys: ServingKeys, on: Cluster | None, catalogue: Catalogue, base: Path
) -> tuple[ServingQuestion | None, list[str]]:
    """Bind the table `serving`; a question, or its faults."""
    faults = _Faults("serving")
    model = _common(keys, faults, on, catalogue, base)
    faults.need("input_tokens", keys.input_tokens, 1, 10**8)
    faults.need("output_tokens", keys.output_tokens, 1, 10**8)
    faults.need("concurrency", keys.concurrency, 0, 10**7)
    kv = faults.get(lambda: precision(catalogue, keys.kv_precision))
    limit = _Faults(f"serving.{LIMIT}")
    limit_s = limit.get(lambda: _limit_s(keys.time_per_output_token_limit)) or 0.0
    faults.lines += limit.lines
    # Data parallelism left out gives the attention ranks that the experts are spread over.
    spread = keys.layout.expert * keys.layout.pipeline * keys.layout.context if keys.layout is not None else 0
    layout = _layout(keys.layout, spread, faults)
    if faults.lines or on is None or model is None or kv is None:
        return None, faults.lines
    replica = Replica(
        model=model,
        layout=replace(layout, data=max(1, layout.data)),
        workload=Serving(
            input_tokens=keys.input_tokens,
            output_tokens=keys.output_tokens,
            precision=keys.precision,
            kv_precision=keys.kv_precision,
            concurrency=keys.concurrency,
            time_per_output_token_limit_s=limit_s,
        ),
        cluster=on,
        linear=precision(catalogue, keys.precision),
        core=precision(catalogue, CORE),
        kv=kv,
        domain=keys.gpus_per_domain or min(on.rack.domain_accelerators, keys.gpus),
    )
    found = [f"serving: {line}" for line in check_replica(replica, keys.gpus)] if keys.layout is not None else []
    return ServingQuestion(replica=replica, devices=keys.gpus, chosen=keys.layout is not None), found


def _layout(keys: LayoutKeys | None, devices: int, faults: _Faults) -> Layout:
    """Bind a table `layout`; data parallelism left out takes the devices that are left."""
    if keys is None:
        return Layout()
    for key, choices in (("recompute", ("none", "selective", "full")), ("shard", ("none", "optimizer", "full"))):
        if getattr(keys, key) not in choices:
            said = shown(getattr(keys, key))
            faults.lines.append(f"{faults.prefix}.layout.{key} = {said}: is not known; use {', '.join(choices)}")
    values = asdict(keys)
    for name in (name for name, value in values.items() if isinstance(value, int)):
        faults.need(f"layout.{name}", values[name], 0 if name == "data" else 1, 10**6)
    if faults.lines:
        return Layout()
    values["recompute"], values["shard"] = cast("Recompute", keys.recompute), cast("Shard", keys.shard)
    values["data"] = keys.data or max(1, devices // (keys.tensor * keys.pipeline * keys.context))
    return Layout(**values)
