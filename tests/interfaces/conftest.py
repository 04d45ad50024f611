"""A command line whose back end is made up, and the result that it gives."""

import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from rooftree.errors import CatalogueError
from rooftree.interfaces.cli import main


def _beside(name):
    """Return a module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


answers, others = _beside("answers"), _beside("others")

PARTS = {
    "site": {"somewhere": answers.SITE},
    "prices": {"list": answers.PRICES},
    "efficiency": {"blackwell": answers.EFFICIENCY},
}


@dataclass
class Backend:
    """What the made-up studies were asked, and what they are to do."""

    questions: list = field(default_factory=list)
    fault: BaseException | None = None
    result: object = answers.RESULT


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def result():
    return answers.RESULT


@pytest.fixture
def sources():
    return answers.SOURCES


@pytest.fixture
def backend(monkeypatch):
    """Replace the catalogue and the studies by small ones that remember their questions."""
    asked = Backend()

    def question(kind):
        def ask(*args, **named):
            asked.questions.append((kind, args, named))
            return SimpleNamespace(cluster=answers.SITE)

        return ask

    def run(scenario, progress):
        progress("layouts", 0.5)
        if asked.fault is not None:
            raise asked.fault
        return asked.result

    for name, functions in {
        "rooftree.facts.catalogue": _catalogue(asked),
        "rooftree.studies.run": {"run": run},
        "rooftree.studies.scenario": {
            "read_scenario": question("file"),
            "training_scenario": question("training"),
            "serving_scenario": question("serving"),
        },
        "rooftree.studies.collective": {"ask": _collective(asked)},
    }.items():
        module = ModuleType(name)
        vars(module).update(functions)
        monkeypatch.setitem(sys.modules, name, module)
    return asked


@pytest.fixture
def rooftree(capfd):
    """Run the command line as a shell would."""

    def call(*arguments):
        status = main(arguments)
        out, err = capfd.readouterr()
        return Outcome(status, out, err)

    return call


def _catalogue(asked):
    def open_catalogue(extra):
        asked.questions.append(("catalogue", extra))
        return SimpleNamespace(layers=(SimpleNamespace(name="shipped", path=Path("catalogue")),))

    def load(catalogue, kind, name):
        if asked.fault is not None:
            raise asked.fault
        return PARTS[kind][name]

    def cluster(catalogue, name):
        if name != "azure-gb300-4608":
            raise CatalogueError(f"cluster '{name}' is in no layer of the catalogue; did you mean 'azure-gb300-4608'?")
        host = SimpleNamespace(accelerators=4)
        return SimpleNamespace(name=name, title="The pod", racks=64, rack=SimpleNamespace(hosts=18, host=host))

    def find(catalogue, name):
        kinds = [kind for kind, parts in PARTS.items() if name in parts]
        if not kinds:
            raise CatalogueError(f"part '{name}' is in no layer of the catalogue; did you mean 'somewhere'?")
        return kinds

    return {
        "open_catalogue": open_catalogue,
        "load": load,
        "cluster": cluster,
        "names": lambda catalogue, kind: tuple(PARTS.get(kind, {})),
        "find": find,
        "architectures": lambda catalogue: ("small",),
        "architecture": lambda catalogue, name: others.SHAPE,
        "sources": lambda catalogue: answers.SOURCES,
    }


def _collective(asked):
    def ask(op, message_bytes, accelerators, cluster, catalogue):
        asked.questions.append((op, message_bytes, accelerators, cluster.name))
        return others.COLLECTIVE

    return ask
