"""A scenario answered whole."""

import hashlib
import time

from rooftree import __version__
from rooftree.facts.hardware import Cluster
from rooftree.facts.parts import walk
from rooftree.studies import serving, training
from rooftree.studies.evidence import evidence_map
from rooftree.studies.results import Answer, Conflict, Result
from rooftree.studies.scenario import Scenario
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
    if scenario.training is not None:
        answers.append(training.answer(scenario.training, scenario.catalogue, scenario.seed, progress))
    if scenario.serving is not None:
        answers.append(serving.answer(scenario.serving, scenario.catalogue, scenario.seed, progress))
    cluster = scenario.cluster
    return Result(
        key=key(scenario),
        version=__version__,
        title=scenario.title,
        cluster=cluster.title,
        accelerators=cluster.racks * cluster.rack.hosts * cluster.rack.host.accelerators,
        answers=tuple(answers),
        conflicts=conflicts(cluster),
        evidence=evidence_map(),
        elapsed_s=time.perf_counter() - started_s,
    )


def key(scenario: Scenario) -> str:
    """Return a hash of the scenario's text, the figures of its cluster, and the version."""
    figures = [(kind, name, entry, figure.value) for kind, name, entry, figure in walk(scenario.cluster)]
    whole = repr((__version__, scenario.text, scenario.seed, figures))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def conflicts(cluster: Cluster) -> tuple[Conflict, ...]:
    """Return the figures of a cluster on which sources disagree."""
    return tuple(
        Conflict(part=f"{kind} {name}", key=entry, chosen=figure)
        for kind, name, entry, figure in walk(cluster)
        if figure.others
    )
