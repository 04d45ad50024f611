"""Options that several verbs share."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from rooftree.errors import ScenarioError
from rooftree.units import parse

Command = TypeVar("Command", bound=Callable[..., object])

CLUSTER = "azure-gb300-4608"
"""The cluster of a question that names none."""


class Quantity(click.ParamType[float]):
    """A quantity with its unit, such as "1 GiB", read as SI."""

    def __init__(self, unit: str, name: str) -> None:
        """Take the SI unit and the word for it in the help."""
        self.unit, self.name = unit, name

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the text; a bare number is refused with what to write instead."""
        if isinstance(value, float):
            return value
        try:
            quantity = parse(str(value), self.unit)
        except ScenarioError as fault:
            self.fail(str(fault), param, ctx)
        if quantity <= 0:
            self.fail(f"'{str(value)[:40]}' is not positive; give more than 0", param, ctx)
        return quantity


POSITIVE = click.IntRange(min=1)

as_json = click.option("--json", "json_", is_flag=True, help="Print one JSON object instead, and nothing else.")
catalogues = click.option(
    "--catalogue",
    "catalogues",
    metavar="DIR",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with further parts; a later one wins, figure by figure. May be repeated.",
)
output = click.option(
    "-o",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write report.html and result.json into this folder.",
)
cluster = click.option(
    "--cluster", metavar="NAME", default=CLUSTER, show_default=True, help="Cluster of the catalogue."
)

_DEGREES = {
    "tensor": "GPUs that share each matrix.",
    "pipeline": "Pipeline stages.",
    "context": "GPUs that share each sequence.",
    "expert": "GPUs that share the experts of a layer.",
    "data": "Attention ranks that share the experts, data parallel.",
    "microbatch": "Sequences in a microbatch.",
    "interleave": "Chunks of layers on each pipeline stage.",
    "recompute": "none, selective or full: what is computed again.  [default: none]",
    "shard": "none, optimizer or full (FSDP).  [default: optimizer]",
}
_CHOICES = {"recompute": ("none", "selective", "full"), "shard": ("none", "optimizer", "full")}


def layout(*names: str) -> Callable[[Command], Command]:
    """Return the options of a layout; sizes left out are 1, and without any the best layout is searched."""

    def decorate(command: Command) -> Command:
        for name in reversed(names):
            if name in _CHOICES:
                command = click.option(
                    f"--{name}", metavar="HOW", type=click.Choice(_CHOICES[name]), help=_DEGREES[name]
                )(command)
            else:
                command = click.option(f"--{name}", metavar="N", type=POSITIVE, help=_DEGREES[name])(command)
        return command

    return decorate


def chosen(**degrees: int | str | None) -> dict[str, int | str]:
    """Return the layout options that were given.

    >>> chosen(tensor=8, pipeline=None)
    {'tensor': 8}
    """
    return {name: degree for name, degree in degrees.items() if degree is not None}
