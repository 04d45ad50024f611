"""How long one evaluation of a training step takes, against the bare roofline, and a search over all layouts.

    python benchmarks/step.py

The roofline is the sum of the lower bounds of the same kernels, without efficiency, collectives or optimizer: what the
closest simple tool computes. Each figure is a median of three runs.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import click

from rooftree.facts.architecture_files import find_architecture
from rooftree.facts.catalogue import cluster, folders, open_catalogue, precision
from rooftree.facts.workloads import Training
from rooftree.models.kernels import Kernel, backward, head, layer_forward
from rooftree.models.layout import Layout
from rooftree.models.roofline import roofline_s
from rooftree.models.step import Case, step_times
from rooftree.studies.search import search_training

RUNS, DEVICES, CLUSTER, FORMAT = 3, 4608, "azure-gb300-4608", "nvfp4"
DENSE = Layout(tensor=8, pipeline=9, data=64, interleave=14)
MIXTURE = Layout(tensor=1, pipeline=8, data=576, expert=64)


@dataclass(frozen=True)
class Row:
    """One line of the table: what was timed, its median, and how it compares."""

    what: str
    took_s: float
    remark: str


def question(model: str, layout: Layout) -> Case:
    """Return a training job of the whole production cluster."""
    catalogue = open_catalogue()
    return Case(
        model=find_architecture(model, folders(catalogue)),
        layout=layout,
        workload=Training(global_batch=2304, sequence=8192, precision=FORMAT),
        cluster=cluster(catalogue, CLUSTER),
        linear=precision(catalogue, FORMAT),
        core=precision(catalogue, "bf16"),
        domain=72,
    )


def bound_s(case: Case) -> float:
    """Return the roofline of the kernels of one step: all layers and the head, spread evenly over the stages."""
    model, chip, tokens = case.model, case.cluster.rack.host.accelerator, case.tokens

    def both_s(kernels: list[Kernel]) -> float:
        return sum(roofline_s(kernel.work, chip) for kernel in (*kernels, *backward(kernels)))

    dense = model.layers if model.experts is None else model.dense_layers
    microbatch_s = both_s(head(model, tokens, case.share))
    for count, routed in ((dense, False), (model.layers - dense, True)):
        if count:
            forward = layer_forward(model, tokens, float(case.workload.sequence), case.share, routed=routed)
            microbatch_s += count * both_s(forward)
    return case.microbatches * microbatch_s / case.layout.pipeline


def median_s(work: Callable[[], object], repeat: int) -> float:
    """Return the median over runs of the mean time of one of `repeat` calls."""
    work()
    runs = []
    for _ in range(RUNS):
        start_s = time.perf_counter()
        for _ in range(repeat):
            work()
        runs.append((time.perf_counter() - start_s) / repeat)
    return statistics.median(runs)


def rows() -> Iterator[Row]:
    """Yield each line as soon as it is measured."""
    for model, layout in (("llama-3.1-405b", DENSE), ("deepseek-v3", MIXTURE)):
        case = question(model, layout)
        roofline = median_s(partial(bound_s, case), 200)
        yield Row(f"{model}: roofline of its kernels", roofline, "1.0 x")
        step = median_s(partial(step_times, case), 200)
        yield Row(f"{model}: step", step, f"{step / roofline:.1f} x the roofline")
    case = question("llama-3.1-405b", DENSE)
    find = partial(search_training, case, DEVICES, lambda what, share: None)
    looked_at, search = find().looked_at, median_s(find, 1)
    each = search / looked_at
    yield Row(f"search on {DEVICES:,} GPUs", search, f"{looked_at:,} layouts, {each * 1e6:.0f} us each")


@click.command(help=__doc__)
def main() -> None:
    """Print the table."""
    click.echo(f"{'what':<42}{'median':>12}  remark")
    for row in rows():
        click.echo(f"{row.what:<42}{row.took_s * 1e3:>9.3f} ms  {row.remark}")


if __name__ == "__main__":
    main()
