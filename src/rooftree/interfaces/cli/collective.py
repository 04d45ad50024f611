"""`rooftree collective`: time one collective operation."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rooftree.interfaces.cli import options

if TYPE_CHECKING:
    from rooftree.studies.collective import CollectiveAnswer

OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")
EPILOG = """\b
Examples:
  rooftree collective all_reduce --bytes "1 GiB" --gpus 72
  rooftree collective all-to-all --bytes "64 MiB" --gpus 4608 --cluster azure-gb300-4608
  rooftree collective broadcast --bytes "8 KiB" --gpus 16 --json"""


class Operation(click.ParamType[str]):
    """The name of a collective; dashes do as well as underscores."""

    name = "op"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name with underscores, or say which one was probably meant."""
        from rooftree.errors import nearest

        name = str(value).lower().replace("-", "_")
        if name not in OPS:
            self.fail(f"there is no operation '{str(value)[:40]}'; {nearest(name[:40], OPS)}", param, ctx)
        return name


@click.command(name="collective", epilog=EPILOG)
@click.argument("op", type=Operation())
@click.option(
    "--bytes",
    "message",
    metavar="SIZE",
    type=options.Quantity("B", "size"),
    required=True,
    help='Message size with its unit, such as "1 GiB", counted as nccl-tests does.',
)
@click.option("--gpus", metavar="N", type=click.IntRange(min=2), required=True, help="GPUs that take part.")
@options.cluster
@options.catalogues
@options.as_json
def command(op: str, message: float, gpus: int, cluster: str, catalogues: tuple[Path, ...], json_: bool) -> None:
    """Predict the time and bandwidths of a collective OP on a quiet network.

    OP is all_reduce, all_gather, reduce_scatter, all_to_all or broadcast.
    """
    from rooftree.facts.catalogue import cluster as find_cluster
    from rooftree.facts.catalogue import open_catalogue
    from rooftree.studies.collective import ask

    catalogue = open_catalogue(catalogues)
    found = find_cluster(catalogue, cluster)
    reply = ask(op, message, gpus, found, catalogue)
    if json_:
        from rooftree.interfaces.cli.answering import dumped
        from rooftree.studies.results import plain

        click.echo(dumped({"cluster": found.name, **plain(reply)}))
        return
    _print(reply, found.title)


def _print(reply: "CollectiveAnswer", cluster: str) -> None:
    """Print the answer for a person."""
    from rooftree.interfaces.small_answers import collective

    collective(reply, cluster)
