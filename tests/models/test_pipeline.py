import pytest

from rooftree.models.layout import Layout
from rooftree.models.pipeline import bubble_share, microbatches_in_flight, stage_layers


@pytest.mark.parametrize(
    ("layers", "pipeline", "interleave", "full", "last"),
    [
        (32, 1, 1, 32, 32),
        (32, 4, 1, 8, 8),
        (126, 4, 1, 32, 30),
        (126, 8, 4, 16, 14),  # 32 chunks of 4 layers
        (10, 4, 1, 3, 1),
        (9, 8, 1, 2, 0),  # five stages hold the nine layers, the last has the head alone
    ],
)
def test_chunks_are_equal_and_the_last_stage_takes_the_rest(layers, pipeline, interleave, full, last):
    assert stage_layers(layers, Layout(pipeline=pipeline, interleave=interleave)) == (full, last)


def test_a_pipeline_of_one_has_no_bubble():
    assert bubble_share(Layout(), 4) == 0.0


def test_the_bubble_shrinks_with_microbatches_and_chunks():
    assert bubble_share(Layout(pipeline=4), 6) == 0.5
    assert bubble_share(Layout(pipeline=4), 12) == 0.25
    assert bubble_share(Layout(pipeline=4, interleave=3), 6) == pytest.approx(3 / 18)


@pytest.mark.parametrize(
    ("pipeline", "interleave", "microbatches", "held"),
    [(1, 1, 100, 1), (4, 1, 100, 4), (4, 1, 3, 3), (4, 2, 100, 4 * (1 + 3 / 8)), (4, 2, 5, 5)],
)
def test_the_first_stage_holds_as_many_microbatches_as_stages_and_a_part_more_when_interleaved(
    pipeline, interleave, microbatches, held
):
    assert microbatches_in_flight(Layout(pipeline=pipeline, interleave=interleave), microbatches) == held
