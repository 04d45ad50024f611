"""`rooftree infer`: predict steady serving without a scenario file."""

from pathlib import Path

import click

from rooftree.interfaces.cli import options

EPILOG = """\b
Examples:
  rooftree infer deepseek-v3 --gpus 72 --tpot "30 ms"
  rooftree infer path/to/config.json --gpus 8 --cluster h100-superpod --precision fp8
  rooftree infer llama-3.1-405b --gpus 8 --tensor 8 --concurrency 64 --json"""


@click.command(name="infer", epilog=EPILOG)
@click.argument("model")
@options.cluster
@click.option("--gpus", metavar="N", type=options.POSITIVE, help="GPUs that serve.  [default: one rack]")
@click.option(
    "--precision",
    default="",
    help="Number format of the matrix products.  [default: the fastest format that the accelerator has a rate for]",
)
@click.option("--kv-precision", default="fp8", show_default=True, help="Number format of the KV cache.")
@click.option(
    "--input", "input_tokens", metavar="N", type=options.POSITIVE, default=1024, show_default=True, help="Tokens in."
)
@click.option(
    "--output", "output_tokens", metavar="N", type=options.POSITIVE, default=1024, show_default=True, help="Tokens out."
)
@click.option(
    "--concurrency",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Requests in flight on each replica of the model; 0: as many as the limits allow.",
)
@click.option(
    "--tpot",
    metavar="TIME",
    type=options.Quantity("s", "time"),
    default="50 ms",
    show_default=True,
    help="Limit of the time per output token.",
)
@options.layout("tensor", "pipeline", "expert", "data")
@options.output
@options.catalogues
@options.as_json
def command(
    *,
    model: str,
    cluster: str,
    gpus: int | None,
    precision: str,
    kv_precision: str,
    input_tokens: int,
    output_tokens: int,
    concurrency: int,
    tpot: float,
    folder: Path | None,
    catalogues: tuple[Path, ...],
    json_: bool,
    **degrees: int | str | None,
) -> None:
    """Predict how fast MODEL answers requests on GPUs of a cluster, in steady state.

    MODEL is an architecture of the catalogue or the path of a Hugging Face config.json. Without any of the options of
    the layout the best layout is searched; with some, the others are 1.
    """
    from rooftree.facts.catalogue import cluster as find_cluster
    from rooftree.facts.catalogue import open_catalogue
    from rooftree.interfaces.cli.answering import answer, one_rack
    from rooftree.studies.scenario import serving_scenario

    catalogue = open_catalogue(catalogues)
    question = serving_scenario(
        model=model,
        cluster=cluster,
        accelerators=gpus or one_rack(find_cluster(catalogue, cluster)),
        precision=precision,
        kv_precision=kv_precision,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        concurrency=concurrency,
        time_per_output_token_limit_s=tpot,
        layout=options.chosen(**degrees),
        catalogue=catalogue,
    )
    answer(question, catalogue, folder, as_json=json_)
