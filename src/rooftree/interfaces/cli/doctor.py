"""`rooftree doctor`: what is installed and works here."""

import shutil
import textwrap
from pathlib import Path

import click

from rooftree.interfaces.cli import options

_WIDEST, _MARK = 100, len("FAILS ")

EPILOG = """\b
Examples:
  rooftree doctor
  rooftree doctor --catalogue my-parts
  rooftree doctor --json"""


@click.command(name="doctor", epilog=EPILOG)
@options.catalogues
@options.as_json
@click.pass_context
def command(ctx: click.Context, catalogues: tuple[Path, ...], json_: bool) -> None:
    """Check Python, the dependencies, the shipped data and every part of the catalogue.

    Exit status 1 if something fails.
    """
    import time

    from rooftree.interfaces.checks import all_checks

    start_s = time.perf_counter()
    checks = all_checks(catalogues)
    good = all(check.good for check in checks)
    if json_:
        from rooftree.interfaces.cli.answering import dumped
        from rooftree.studies.results import plain

        table = {"good": good, "checks": [plain(check) for check in checks]}
        click.echo(dumped({**table, "elapsed_s": time.perf_counter() - start_s}))
    else:
        for check in checks:
            click.secho("ok    " if check.good else "FAILS ", fg="green" if check.good else "red", nl=False)
            click.echo(_indented(f"{check.what}: {check.detail}")[_MARK:])
            for fault in check.faults:
                click.echo(_indented(fault))
    if not good:
        ctx.exit(1)


def _indented(text: str) -> str:
    """Return a text beside the marks, on lines of at most 100 columns unless a word is longer."""
    width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
    return textwrap.fill(
        text,
        width,
        initial_indent=" " * _MARK,
        subsequent_indent=" " * (_MARK + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )
