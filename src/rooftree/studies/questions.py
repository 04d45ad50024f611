"""The whole question as data: a training job, a serving job, on one cluster."""

from dataclasses import dataclass

from rooftree.facts.catalogue import Catalogue
from rooftree.facts.hardware import Cluster
from rooftree.models.steady import Replica
from rooftree.models.step import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingQuestion:
    """A training job. With `chosen` its layout is the user's; otherwise the search finds it."""

    case: Case
    devices: int
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingQuestion:
    """A serving job. With `chosen` its replica is the user's; otherwise the search finds it."""

    replica: Replica
    devices: int
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The whole question. `text` is what was asked, word for word, and part of the answer's key."""

    title: str
    cluster: Cluster
    catalogue: Catalogue
    training: TrainingQuestion | None
    serving: ServingQuestion | None
    seed: int
    text: str
