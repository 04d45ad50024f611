"""A scenario answered whole."""

import hashlib
import time
from dataclasses import replace

from rooftree import __version__
from rooftree.errors import DoesNotFit, NotModelled
from rooftree.facts.hardware import Cluster
from rooftree.facts.parts import walk
from rooftree.studies import serving, training
from rooftree.studies.evidence import evidence_map
from rooftree.studies.questions import Scenario
from rooftree.studies.results import Answer, Conflict, Result
from rooftree.studies.search import Progress


def quiet(what: str, fraction: float) -> None:
    """Show no progress."""


def run(scenario: Scenario, progress: Progress = quiet) -> Result:
    """Answer every question of a scenario.

    Deterministic: the same scenario, catalogue and version give the same answer to the bit, but for `elapsed_s`.
    Raises DoesNotFit and NotModelled, with all that is wrong.
    """
    started_s = time.perf_counter()
    answers: list[Answer] = []
    faults: list[DoesNotFit | NotModelled] = []
    try:
        if scenario.training is not None:
            answers.append(training.answer(scenario.training, scenario.catalogue, scenario.seed, progress))
    except (DoesNotFit, NotModelled) as fault:
        faults.append(fault)
    try:
        if scenario.serving is not None:
            answers.append(serving.answer(scenario.serving, scenario.catalogue, scenario.seed, progress))
    except (DoesNotFit, NotModelled) as fault:
        faults.append(fault)
    if faults:
        raise type(faults[0])(*(line for fault in faults for line in fault.faults))
    cluster = scenario.cluster
    return Result(
        key=key(scenario),
        version=__version__,
        title=scenario.title,
        cluster=cluster.title,
        cluster_accelerators=cluster.racks * cluster.rack.hosts * cluster.rack.host.accelerators,
        answers=tuple(answers),
        conflicts=conflicts(cluster),
        evidence=evidence_map(),
        elapsed_s=time.perf_counter() - started_s,
    )


def key(scenario: Scenario) -> str:
    """Return a hash of all that the answer follows from: text, figures with ranges, shapes, formats, the version.

    Where a shape was read from is left out, so that a folder can be moved.
    """
    figures = [
        (kind, name, entry, figure.value, figure.low, figure.high)
        for kind, name, entry, figure in walk(scenario.cluster)
    ]
    asked: list[object] = []
    if scenario.training is not None:
        case = scenario.training.case
        asked += [replace(case.model, source=""), case.linear, case.core]
    if scenario.serving is not None:
        replica = scenario.serving.replica
        asked += [replace(replica.model, source=""), replica.linear, replica.core, replica.kv]
    whole = repr((__version__, scenario.text, scenario.seed, figures, asked))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def conflicts(cluster: Cluster) -> tuple[Conflict, ...]:
    """Return the figures of a cluster on which sources disagree."""
    return tuple(
        Conflict(part=f"{kind} {name}", key=entry, chosen=figure)
        for kind, name, entry, figure in walk(cluster)
        if figure.others
    )
