"""`rooftree train`: predict a training step without a scenario file."""

from pathlib import Path

import click

from rooftree.interfaces.cli import options

EPILOG = """\b
Examples:
  rooftree train llama-3.1-405b --cluster azure-gb300-4608 --gpus 1152
  rooftree train path/to/config.json --gpus 72 --precision nvfp4 -o out/mine
  rooftree train llama-3.1-405b --gpus 512 --global-batch 512 --tensor 8 --pipeline 4 --json"""


@click.command(name="train", epilog=EPILOG)
@click.argument("model")
@options.cluster
@click.option("--gpus", metavar="N", type=options.POSITIVE, help="GPUs of the job.  [default: the whole cluster]")
@click.option("--precision", default="fp8", show_default=True, help="Number format of the matrix products.")
@click.option("--sequence", metavar="N", type=options.POSITIVE, default=4096, show_default=True, help="Tokens.")
@click.option(
    "--global-batch", metavar="N", type=options.POSITIVE, help="Sequences in a step.  [default: one for each GPU]"
)
@options.layout("tensor", "pipeline", "context", "expert", "microbatch", "interleave", "recompute", "shard")
@options.output
@options.catalogues
@options.as_json
def command(
    *,
    model: str,
    cluster: str,
    gpus: int | None,
    precision: str,
    sequence: int,
    global_batch: int | None,
    folder: Path | None,
    catalogues: tuple[Path, ...],
    json_: bool,
    **degrees: int | str | None,
) -> None:
    """Predict how fast MODEL trains on GPUs of a cluster.

    MODEL is an architecture of the catalogue or the path of a Hugging Face config.json. Without any of the options of
    the layout the best layout is searched; with some, the others are 1.
    """
    from rooftree.facts.catalogue import cluster as find_cluster
    from rooftree.facts.catalogue import open_catalogue
    from rooftree.interfaces.cli.answering import answer, whole
    from rooftree.studies.scenario import training_scenario

    catalogue = open_catalogue(catalogues)
    accelerators = gpus or whole(find_cluster(catalogue, cluster))
    question = training_scenario(
        model=model,
        cluster=cluster,
        accelerators=accelerators,
        precision=precision,
        sequence=sequence,
        global_batch=global_batch or accelerators,
        layout=options.chosen(**degrees),
        catalogue=catalogue,
    )
    answer(question, catalogue, folder, as_json=json_)
