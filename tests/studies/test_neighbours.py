import pytest

from rooftree.facts.catalogue import cluster, open_catalogue
from rooftree.facts.measurements import table
from rooftree.studies.neighbours import SHOWN, beyond_measured, distance, leaning, nearest_rows, what, what_if
from rooftree.studies.rows import Predicted, measured_parts

ASKED = {"model": "llama-3.1-405b", "accelerator": "gb300", "precision": "fp8", "mixture": False, "devices": 512}
BEYOND = {"accelerator": "gb300", "precision": "fp8", "mixture": False}


def test_the_nearest_run_comes_first_and_the_distances_rise(trained):
    near = nearest_rows(trained, **ASKED)
    assert len(near) == SHOWN
    assert near[0].distance == 0
    assert near[0].accelerators == 512
    assert [one.distance for one in near] == sorted(one.distance for one in near)


def test_no_run_that_is_left_out_is_nearer(trained):
    farthest = nearest_rows(trained, **ASKED)[-1].distance
    assert sum(distance(one, **ASKED) < farthest for one in trained) < SHOWN


@pytest.mark.parametrize(
    ("change", "apart"),
    [
        ({}, 0),
        ({"devices": 2048}, 2),
        ({"devices": 128}, 2),
        ({"model": "other"}, 2),
        ({"accelerator": "h100-sxm"}, 2),
        ({"precision": "bf16"}, 1),
        ({"mixture": True}, 4),
    ],
)
def test_each_difference_has_its_toll(trained, change, apart):
    run = next(one for one in trained if one.row.id == nearest_rows(trained, **ASKED)[0].id)
    assert distance(run, **{**ASKED, **change}) == pytest.approx(apart)


def test_a_neighbour_shows_the_row_and_the_models_value(trained):
    near = nearest_rows(trained, **ASKED)[0]
    run = next(one for one in trained if one.row.id == near.id)
    assert (near.measured, near.predicted) == (run.row.value, run.predicted)
    assert near.error == pytest.approx(run.predicted / run.row.value - 1)
    assert (near.split, near.source) == (run.row.split, run.row.source)


def test_a_run_is_described_by_what_differs_from_one(trained):
    run = next(one for one in trained if one.row.id == "DGXC-0091")
    assert what(run) == "llama-3.1-70b h100-sxm bf16 tp4 cp2 pp4 vp5"


def test_the_whole_pod_lies_beyond_what_was_measured(trained):
    (reason,) = beyond_measured(trained, **BEYOND, devices=4608)
    assert "9.0 times the largest measured dense run on gb300" in reason


def test_a_measured_size_does_not(trained):
    assert beyond_measured(trained, **BEYOND, devices=512) == ()
    assert beyond_measured(trained, **BEYOND, devices=513) != ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"accelerator": "mi300x"}, "no run on mi300x was measured"),
        ({"accelerator": "h100-sxm", "mixture": True}, "no mixture-of-experts run on h100-sxm was measured"),
        ({"precision": "bf16"}, "no dense run in bf16 on gb300 was measured"),
    ],
)
def test_what_was_never_measured_lies_beyond(trained, change, reason):
    assert beyond_measured(trained, **{**BEYOND, **change}, devices=8) == (reason,)


def leaning_of(log_errors, split="fit"):
    row = next(row for row in table("training").rows if (row.accelerator, row.split) == ("gb300", split))
    done = [Predicted(row=row, predicted=1.0, log_time_error=error, mixture=False) for error in log_errors]
    return leaning(done, accelerator="gb300", precision=row.conditions["precision"], mixture=False)


@pytest.mark.parametrize(
    ("log_errors", "words"),
    [
        ((0.3, 0.4, 0.5), "too fast on all 3"),
        ((-0.3, -0.4, -0.5), "too slow on all 3"),
        ((0.3, 0.4, -0.1), ""),
        ((0.05, 0.04, 0.06), ""),
        ((0.3, 0.4), ""),
    ],
)
def test_a_model_that_errs_to_one_side_says_so(log_errors, words):
    said = " ".join(leaning_of(log_errors))
    assert words in said
    assert bool(said) is bool(words)


def test_the_true_time_is_told_by_its_distance():
    assert "the true time is 49% longer in the middle" in leaning_of((0.4, 0.4, 0.4))[0]


def test_figures_of_the_users_catalogue_are_told(tmp_path):
    (tmp_path / "accelerator").mkdir()
    (tmp_path / "accelerator" / "gb300.toml").write_text(
        '[figures.memory_bandwidth_bytes_per_s]\nvalue = "4 TB/s"\nbasis = "derived"\n'
        'source = "NV_ULTRA"\nwhere = "x"\n'
    )
    own = open_catalogue([tmp_path])
    pod = cluster(own, "azure-gb300-4608")
    assert what_if(pod) == (f"1 figures come from your catalogue {tmp_path}, with which nothing was measured",)
    assert what_if(cluster(open_catalogue(), "azure-gb300-4608")) == ()
    assert [layer.name for layer in measured_parts(own).layers] == ["shipped", "fitted"]


def test_test_rows_set_no_warning():
    assert leaning_of((0.4, 0.4, 0.4), split="test") == ()
