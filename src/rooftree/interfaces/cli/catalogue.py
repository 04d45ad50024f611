"""`rooftree catalogue`: the parts and their figures."""

from pathlib import Path

import click

from rooftree.interfaces.cli import options

EPILOG = """\b
Examples:
  rooftree catalogue
  rooftree catalogue azure-gb300-4608
  rooftree catalogue llama-3.1-405b
  rooftree catalogue --catalogue my-parts my-rack --json"""


@click.command(name="catalogue", epilog=EPILOG)
@click.argument("part", required=False)
@options.catalogues
@options.as_json
def command(part: str | None, catalogues: tuple[Path, ...], json_: bool) -> None:
    """Show the parts and architectures by kind, or the figures of a PART.

    Each figure comes with its value, range, basis, source, place in the source, layer of the catalogue and note, and
    with the figures of other sources that were not chosen.
    """
    import time

    from rooftree.facts.catalogue import architecture, architectures, find, load, names, open_catalogue, sources
    from rooftree.facts.hardware import KINDS
    from rooftree.interfaces import parts

    start_s = time.perf_counter()
    catalogue = open_catalogue(catalogues)
    shapes = architectures(catalogue)
    if part is None:
        shelves = {kind: [load(catalogue, kind, name) for name in names(catalogue, kind)] for kind in KINDS}
        table = parts.index(shelves, [architecture(catalogue, name) for name in shapes])
        show = parts.show_index
    elif part in shapes:
        table = parts.shape(architecture(catalogue, part), sources(catalogue))
        show = parts.show_shape
    else:
        found = {kind: load(catalogue, kind, part) for kind in find(catalogue, part)}
        table = parts.details(found, sources(catalogue))
        show = parts.show_details
    if json_:
        from rooftree.interfaces.cli.answering import dumped

        click.echo(dumped({**table, "elapsed_s": time.perf_counter() - start_s}))
    else:
        show(table)
