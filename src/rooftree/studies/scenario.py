"""Ask a question: from a TOML file, or from the command line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rooftree.errors import CatalogueError, ScenarioError
from rooftree.facts.catalogue import Catalogue, cluster, names, precision
from rooftree.files import placed, visible
from rooftree.studies.binding import CORE, bind, name_faults
from rooftree.studies.questions import Scenario
from rooftree.studies.scenario_file import keys_from, read_table


def read_scenario(path: Path, catalogue: Catalogue) -> Scenario:
    """Read a scenario file.

    Raises ScenarioError with every fault of the file, each with the nearest name or what to write.
    """
    table, text = read_table(path)
    return _asked(table, text, catalogue, visible(str(path)), path.parent)


def training_scenario(
    *,
    model: str,
    cluster: str,
    accelerators: int,
    precision: str,
    sequence: int,
    global_batch: int,
    layout: Mapping[str, int | str],
    catalogue: Catalogue,
) -> Scenario:
    """Return the question that `rooftree train` asks; an empty layout is searched for."""
    table: dict[str, Any] = {
        "model": model,
        "gpus": accelerators,
        "precision": precision,
        "sequence": sequence,
        "global_batch": global_batch,
    }
    return _from_table("training", table, cluster, layout, catalogue)


def serving_scenario(
    *,
    model: str,
    cluster: str,
    accelerators: int,
    precision: str,
    kv_precision: str,
    input_tokens: int,
    output_tokens: int,
    concurrency: int,
    time_per_output_token_limit_s: float,
    layout: Mapping[str, int | str],
    catalogue: Catalogue,
) -> Scenario:
    """Return the question that `rooftree infer` asks; an empty layout is searched for.

    An empty precision stands for the format of fewest bits that the cluster's accelerator has a rate for.
    """
    limit = f"{time_per_output_token_limit_s!r} s" if time_per_output_token_limit_s else ""
    table: dict[str, Any] = {
        "model": model,
        "gpus": accelerators,
        "precision": precision or fewest_bits(cluster, catalogue),
        "kv_precision": kv_precision,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "concurrency": concurrency,
        "time_per_output_token_limit": limit,
    }
    return _from_table("serving", table, cluster, layout, catalogue)


def fewest_bits(cluster_name: str, catalogue: Catalogue) -> str:
    """Return the number format of fewest bits that a cluster's accelerator has a rate for; the core one if unknown."""
    try:
        rates = cluster(catalogue, cluster_name).rack.host.accelerator.peak_flops_per_s
    except CatalogueError:
        return CORE  # the cluster's own fault is told with all others
    able = [
        form for form in (precision(catalogue, name) for name in names(catalogue, "precision")) if form.peak in rates
    ]
    return min(able, key=lambda form: (form.bits, form.name)).name


def _from_table(
    kind: str, table: dict[str, Any], cluster_name: str, layout: Mapping[str, int | str], catalogue: Catalogue
) -> Scenario:
    """Bind a question of the command line as if it stood in a file."""
    if layout:
        table["layout"] = dict(layout)
    whole = {"title": f"{table['model']} on {cluster_name}", "cluster": cluster_name, kind: table}
    return _asked(whole, json.dumps(whole, sort_keys=True), catalogue, "", Path())


def _asked(table: dict[str, Any], text: str, catalogue: Catalogue, label: str, base: Path) -> Scenario:
    """Bind a table; when its keys have faults, those of its names are told with them."""
    try:
        keys = keys_from(table, label)
    except ScenarioError as fault:
        raise ScenarioError(
            *fault.faults, *(placed(label, line) for line in name_faults(table, catalogue, base))
        ) from None
    return bind(keys, text, catalogue, label, base)
