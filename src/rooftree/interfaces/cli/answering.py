"""What `run`, `train` and `infer` share: compute, write the files, print the summary."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rooftree.facts.catalogue import Catalogue
    from rooftree.facts.hardware import Cluster
    from rooftree.studies.questions import Scenario

REPORT, RESULT = "report.html", "result.json"


def answer(scenario: "Scenario", catalogue: "Catalogue", folder: Path | None, *, as_json: bool) -> None:
    """Answer a scenario: print it, and write report.html and result.json if there is a folder for them."""
    from rooftree.facts.catalogue import sources
    from rooftree.facts.parts import walk
    from rooftree.interfaces.cli.progress import Progress
    from rooftree.interfaces.words import own_figures
    from rooftree.interfaces.writing import check, write
    from rooftree.studies.results import as_json as plain
    from rooftree.studies.run import run

    if folder is not None:
        check(folder)
    with Progress() as progress:
        result = run(scenario, progress)
    own = own_figures(figure for *_, figure in walk(scenario.cluster))
    written: Mapping[str, Path] = {}
    if folder is not None:
        from rooftree.interfaces.report import render

        texts = {RESULT: dumped(plain(result)) + "\n", REPORT: render(result, sources(catalogue), own)}
        written = write(folder, texts)
    if as_json:
        click.echo(dumped(plain(result)))
        return
    from rooftree.interfaces.terminal import show

    show(result, written.get(REPORT), own)


def dumped(table: Mapping[str, object]) -> str:
    """Return a table as strict JSON."""
    return json.dumps(table, indent=2, ensure_ascii=False, allow_nan=False)


def whole(cluster: "Cluster") -> int:
    """Return how many accelerators a cluster has."""
    return cluster.racks * one_rack(cluster)


def one_rack(cluster: "Cluster") -> int:
    """Return how many accelerators a rack of a cluster has."""
    return cluster.rack.hosts * cluster.rack.host.accelerators
