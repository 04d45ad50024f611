"""`rooftree doctor`: what is installed and works here."""

from pathlib import Path

import click

from rooftree.interfaces.cli import options

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
            click.echo(f"{check.what}: {check.detail}")
    if not good:
        ctx.exit(1)
