"""`rooftree run`: answer a scenario file."""

from pathlib import Path

import click

from rooftree.interfaces.cli import options

EPILOG = """\b
Examples:
  rooftree run scenarios/azure-gb300.toml
  rooftree run scenarios/azure-gb300.toml -o out/first
  rooftree run scenarios/azure-gb300.toml --json | jq .answers"""


@click.command(name="run", epilog=EPILOG)
@click.argument("scenario", type=click.Path(path_type=Path))
@options.output
@options.catalogues
@options.as_json
def command(scenario: Path, folder: Path | None, catalogues: tuple[Path, ...], json_: bool) -> None:
    """Answer the question of a SCENARIO file.

    Prints a summary and writes report.html, which needs no network, and result.json into DIR: out/ and the name of the
    scenario unless -o says otherwise. With --json, files are written only where -o says so.
    """
    from rooftree.facts.catalogue import open_catalogue
    from rooftree.interfaces.cli.answering import answer
    from rooftree.studies.scenario import read_scenario

    catalogue = open_catalogue(catalogues)
    question = read_scenario(scenario, catalogue)
    target = folder if folder is not None or json_ else Path("out") / scenario.stem
    answer(question, catalogue, target, as_json=json_)
