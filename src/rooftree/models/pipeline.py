"""How layers fall on pipeline stages, and how long the pipe stands empty."""

import math

from rooftree.models.layout import Layout


def stage_layers(layers: int, layout: Layout) -> tuple[int, int]:
    """Layers of a full stage and of the last stage.

    Each of the pipeline x interleave chunks takes the same number of layers, rounded up; the last stage takes the rest
    and the output head, as frameworks place it.

    >>> stage_layers(126, Layout(pipeline=8, interleave=8)), stage_layers(61, Layout(pipeline=4, interleave=4))
    ((16, 14), (16, 13))
    """
    each = math.ceil(layers / (layout.pipeline * layout.interleave)) * layout.interleave
    return each, max(0, layers - each * (layout.pipeline - 1))


def bubble_share(layout: Layout, microbatches: int) -> float:
    """Idle time over busy time of a 1F1B pipeline.

    (p - 1) / (v m): with v chunks a stage, filling and draining cost one chunk's time for each of the other stages.

    Source: Narayanan et al. 2021, SC21, section 2.2 (interleaved schedule).

    >>> bubble_share(Layout(pipeline=8, interleave=2), 28)
    0.125
    """
    return (layout.pipeline - 1) / (layout.interleave * microbatches)


def microbatches_in_flight(layout: Layout, microbatches: int) -> float:
    """Microbatches whose activations the first stage holds, in units of a whole stage.

    min(m, p) for 1F1B; interleaving adds (p - 1)/(p v) of p.

    Source: Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.3.
    """
    held = float(layout.pipeline)
    if layout.interleave > 1:
        held *= 1 + (layout.pipeline - 1) / (layout.pipeline * layout.interleave)
    return min(float(microbatches), held)
