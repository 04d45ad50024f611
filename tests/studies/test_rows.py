from dataclasses import replace

import pytest

from rooftree.errors import NotModelled
from rooftree.facts.measurements import table
from rooftree.studies.rows import cluster_with, predict_all, predict_serving, predict_training

HIDDEN = ("source", "where", "release", "engine", "quality", "flags")
TABLES = [("training", predict_training), ("inference", predict_serving)]


def scrambled(row):
    conditions = {key: "scrambled" if key in HIDDEN else text for key, text in row.conditions.items()}
    return replace(row, id=f"X{hash(row.id) % 97}", source="nobody", split="test", conditions=conditions)


def row_of(name, **wanted):
    rows = (row for row in table(name).rows if all(row.conditions[key] == text for key, text in wanted.items()))
    return next(rows)


@pytest.mark.parametrize(("name", "predict"), TABLES)
def test_id_source_and_split_are_never_inputs(catalogue, name, predict):
    rows = table(name).rows
    plain, blind = (predict_all(each, catalogue, predict)[0] for each in (rows, [scrambled(row) for row in rows]))
    assert len(plain) > 50
    assert [one.predicted for one in plain] == [one.predicted for one in blind]


@pytest.mark.parametrize(("name", "predict"), TABLES)
def test_the_measured_value_is_never_an_input(catalogue, name, predict):
    rows = table(name).rows[::5]
    doubled = [replace(row, value=2 * row.value) for row in rows]
    assert [predict(row, catalogue).predicted for row in rows] == [predict(row, catalogue).predicted for row in doubled]


@pytest.mark.parametrize(("name", "predict"), TABLES)
def test_every_row_is_predicted_or_refused_with_its_id(catalogue, name, predict):
    done, refused = predict_all(table(name).rows, catalogue, predict)
    assert len(done) + len(refused) == len(table(name).rows)
    assert all(row.id in why for row, why in refused)


def test_errors_count_the_same_way_in_time_and_in_rate(catalogue):
    step, rate = row_of("training", metric="step_s"), row_of("training", metric="tokens_per_s_per_accelerator")
    slow, fast = (predict_training(row, catalogue) for row in (step, rate))
    # measured twice as long as predicted: the model is too fast
    late = predict_training(replace(step, value=2 * slow.predicted), catalogue)
    weak = predict_training(replace(rate, value=fast.predicted / 2), catalogue)
    assert late.log_time_error == pytest.approx(weak.log_time_error)
    assert late.log_time_error > 0
    assert late.error == pytest.approx(-0.5)
    assert weak.error == pytest.approx(1.0)


def test_both_metrics_of_a_run_agree(catalogue):
    row = row_of("training", metric="step_s")
    rate = predict_training(replace(row, quantity="tokens_per_s_per_accelerator", unit="1/s"), catalogue).predicted
    tokens = row.count("global_batch") * row.count("sequence")
    assert rate * predict_training(row, catalogue).predicted * row.devices == pytest.approx(tokens)


def test_another_metric_is_not_modelled(catalogue):
    row = replace(table("training").rows[0], quantity="loss")
    with pytest.raises(NotModelled, match="metric loss is not modelled"):
        predict_training(row, catalogue)


def test_a_layout_that_does_not_divide_is_not_modelled(catalogue):
    row = table("training").rows[0]
    done, refused = predict_all(
        [row, replace(row, conditions={**row.conditions, "tensor": "3"})], catalogue, predict_training
    )
    assert len(done) == len(refused) == 1
    assert "layout.tensor = 3" in refused[0][1]


def test_a_model_larger_than_the_device_is_not_modelled(catalogue):
    row = row_of("inference", model="llama-3.1-70b", tensor="1")
    with pytest.raises(NotModelled, match="more memory"):
        predict_serving(replace(row, conditions={**row.conditions, "model": "deepseek-r1"}), catalogue)


def test_an_accelerator_that_no_cluster_has_is_not_modelled(catalogue):
    with pytest.raises(NotModelled, match="no cluster of the catalogue has the accelerator tpu"):
        cluster_with(catalogue, "tpu")


def test_few_requests_on_many_replicas_are_not_read_as_no_limit(catalogue):
    row = row_of("inference", concurrency="4")
    per_device = replace(row, devices=8 * row.devices, quantity="tokens_per_s_per_accelerator", unit="1/s")
    few, unlimited = (
        predict_serving(replace(per_device, conditions={**row.conditions, "concurrency": text}), catalogue).predicted
        for text in ("4", "")
    )
    assert few < unlimited / 4


def test_an_empty_interleave_is_one_layer_a_chunk(catalogue):
    row = next(row for row in table("training").rows if row.count("pipeline") > 1 and not row.conditions["interleave"])
    layers = {"llama-3.1-8b": 32, "llama-3.1-70b": 80, "llama-3.1-405b": 126}.get(row.conditions["model"], 61)
    chunks = -(-layers // row.count("pipeline"))
    stated = replace(row, conditions={**row.conditions, "interleave": str(chunks)})
    assert predict_training(row, catalogue).predicted == predict_training(stated, catalogue).predicted
