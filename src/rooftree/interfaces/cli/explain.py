"""`rooftree explain`: what a metric means."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rooftree.interfaces.cli import options

if TYPE_CHECKING:
    from rooftree.interfaces.metrics import Metric

EPILOG = """\b
Examples:
  rooftree explain
  rooftree explain mfu
  rooftree explain busbw_bytes_per_s --json"""


@click.command(name="explain", epilog=EPILOG)
@click.argument("metric", required=False)
@options.catalogues
@options.as_json
def command(metric: str | None, catalogues: tuple[Path, ...], json_: bool) -> None:
    """Explain a METRIC: its equation, what goes in, where it holds, who says so. Without METRIC, list them all."""
    import time

    from rooftree.interfaces import metrics

    start_s = time.perf_counter()
    chosen = list(metrics.metrics().values()) if metric is None else [metrics.metric(metric)]
    if json_:
        from rooftree.interfaces.cli.answering import dumped
        from rooftree.studies.results import plain

        tables = {one.name: plain(one) for one in chosen}
        table = {"metrics": tables} if metric is None else tables[chosen[0].name]
        click.echo(dumped({**table, "elapsed_s": time.perf_counter() - start_s}))
    elif metric is None:
        width = max(len(one.name) for one in chosen)
        for one in chosen:
            click.echo(f"{one.name:{width}}  {one.title}")
    else:
        _print(chosen[0])


def _print(metric: "Metric") -> None:
    """Print the explanation of a metric."""
    from rooftree.interfaces.small_answers import explanation

    explanation(metric)
