"""Every fault of a part file has its own line `file: key: what`, and all of them come at once."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rooftree import units
from rooftree.errors import CatalogueError
from rooftree.facts.catalogue import load, sources
from rooftree.facts.fields import LARGEST, SMALLEST

GOOD = 'basis = "published"\nsource = "S"\nwhere = "page 1"\n'
ASSUMED = 'basis = "assumed"\nsource = "S"\nwhere = "here"\n'
FAULTY = [
    ({"power": f"value = 2000\n{GOOD}"}, r"power_w\.value: '2000' has no unit; write '2000 kW'"),
    ({"power": f'value = "2 GB"\n{GOOD}'}, r"power_w\.value: '2 GB' is in B, but W is needed"),
    ({"power": f'value = "2 kWW"\n{GOOD}'}, r"power_w\.value: .*unknown unit 'kWW'; did you mean 'kW'"),
    ({"power": f'value = "-2 kW"\n{GOOD}'}, r"power_w\.value: -2000 is negative"),
    ({"power": f'value = "0 W"\n{GOOD}'}, r"power_w\.value: 0 is zero"),
    ({"power": f"value = nan\n{GOOD}"}, r"power_w\.value: 'nan' is not a number"),
    ({"ports": f"value = inf\n{GOOD}"}, r"ports\.value: is not finite"),
    ({"ports": f"value = 1{'0' * 400}\n{GOOD}"}, r"ports\.value: is too large"),
    ({"ports": f"value = 2.5\n{GOOD}"}, r"ports\.value: 2\.5 is not whole"),
    ({"ports": f"value = true\n{GOOD}"}, r"ports\.value: has the wrong type"),
    ({"power": f'value = "2 kW"\nlow = "3 kW"\n{GOOD}'}, r"power_w: value 2000 is outside low 3000"),
    ({"power": f'value = "2 kW"\nhigh = "1 kW"\n{GOOD}'}, r"power_w: value 2000 is outside .* high 1000"),
    ({"power": f'value = "2 kW"\nlow = "-1 W"\n{GOOD}'}, r"power_w\.low: -1 is negative"),
    ({"power": f'value = "2 kW"\nlo = "1 kW"\n{GOOD}'}, r"power_w\.lo: unknown key; did you mean 'low'"),
    ({"power": 'value = "2 kW"\nbasis = "published"\nwhere = "x"'}, r"power_w\.source: missing"),
    ({"power": 'value = "2 kW"\nbasis = "published"\nsource = "S"'}, r"power_w\.where: missing"),
    ({"power": 'value = "2 kW"\nsource = "S"\nwhere = "x"'}, r"power_w\.basis: missing"),
    ({"power": GOOD}, r"power_w\.value: missing"),
    ({"power": f'value = " "\n{GOOD}'}, r"power_w\.value: missing"),
    ({"power": f'value = "2 kW"\n{GOOD}'.replace('"S"', '"SS"')}, r"source: \"SS\" is in no file.*did you mean 'S'"),
    ({"power": f'value = "2 kW"\n{GOOD}'.replace("published", "publishd")}, r"basis: .*did you mean 'published'"),
    ({"power": f'value = "2 kW"\nnote = "x"\n{ASSUMED}'}, r"power_w: is assumed without a range"),
    ({"power": f'value = "2 kW"\nlow = "2 kW"\nhigh = "2 kW"\nnote = "x"\n{ASSUMED}'}, r"is assumed without a range"),
    ({"power": f'value = "2 kW"\nlow = "1 kW"\nhigh = "3 kW"\n{ASSUMED}'}, r"power_w: is assumed without a note"),
    ({"ports": f'value = 64\nnote = "x"\n{ASSUMED}'}, r"ports: is assumed without a range"),
    ({"power": f'value = "2 kW"\n{GOOD}others = 5\n'}, r"power_w\.others: has the wrong type"),
    ({"power": f'value = "2 kW"\n{GOOD}others = [5]\n'}, r"power_w\.others\.0: is not a table"),
    ({"end": f'[[figures.power_w.others]]\nvalue = "x"\n{GOOD}'}, r"power_w\.others\.0\.value: 'x' is not a number"),
    ({"end": f"[figures.prots]\nvalue = 1\n{GOOD}"}, r"figures\.prots: unknown figure; did you mean 'ports'"),
    ({"end": "[[colour"}, r"is not TOML"),
    ({"title": ""}, r"title: missing; no layer gives it"),
    ({"title": 'title = " "\n'}, r"title: must be a text"),
    ({"title": 'titel = "x"\n'}, r"titel: unknown key; did you mean 'title'"),
    ({"title": 'title = "x"\nports = 64\n'}, r"ports: unknown key.*a number is a table \[figures\.ports\]"),
]


@pytest.mark.parametrize(("change", "message"), FAULTY)
def test_a_fault_is_named(layer, switch, change, message):
    with pytest.raises(CatalogueError, match=message):
        load(layer({"switch/a": switch(**change)}), "switch", "a")


@pytest.mark.parametrize(("change", "message"), FAULTY)
def test_a_fault_is_one_line_that_begins_with_the_file(layer, switch, tmp_path, change, message):
    with pytest.raises(CatalogueError) as caught:
        load(layer({"switch/a": switch(**change)}), "switch", "a")
    file = str(tmp_path / "mine" / "switch" / "a.toml")
    assert [fault for fault in caught.value.faults if not fault.startswith(f"{file}: ") or "\n" in fault] == []


def test_all_faults_come_at_once(layer, switch):
    changes = {"ports": f"value = 2.5\n{GOOD}", "power": f"value = 2000\n{GOOD}", "title": 'titel = "x"\n'}
    with pytest.raises(CatalogueError) as caught:
        load(layer({"switch/a": switch(**changes)}), "switch", "a")
    keys = [fault.split(": ")[1] for fault in caught.value.faults]
    assert keys == ["titel", "figures.ports.value", "figures.power_w.value", "title"]


def test_all_faults_of_one_figure_come_at_once(layer, switch):
    power = 'value = "2 GB"\nbasis = "guess"\nsource = "X"\nlow = "x"\ncolour = 1\n'
    with pytest.raises(CatalogueError) as caught:
        load(layer({"switch/a": switch(power=power)}), "switch", "a")
    keys = {fault.split(": ")[1].removeprefix("figures.power_w.") for fault in caught.value.faults}
    assert keys == {"value", "basis", "source", "low", "colour", "where"}


def test_a_missing_figure_is_named(layer):
    with pytest.raises(CatalogueError) as caught:
        load(layer({"switch/a": 'title = "x"\n'}), "switch", "a")
    missing = {fault.split(": ")[1] for fault in caught.value.faults}
    assert missing == {"figures.ports", "figures.power_w", "figures.port_bandwidth_bytes_per_s"}


def test_a_faulty_figure_is_not_missing_as_well(layer, switch):
    with pytest.raises(CatalogueError) as caught:
        load(layer({"switch/a": switch(power=f"value = 2000\n{GOOD}")}), "switch", "a")
    assert len(caught.value.faults) == 1


def test_an_entry_without_quotes_is_explained(layer):
    text = f'[figures.peak_flops_per_s.fp8]\nvalue = "4 PFLOPS"\n{GOOD}'
    with pytest.raises(CatalogueError, match=r'write \[figures\."peak_flops_per_s\.bf16"\], with the quotes'):
        load(layer({"accelerator/gb300": text}), "accelerator", "gb300")


def test_an_unknown_entry_gets_the_nearest_name(layer):
    text = f'[figures."peak_flops_per_s.fp88"]\nvalue = "4 PFLOPS"\n{GOOD}'
    with pytest.raises(CatalogueError, match=r"did you mean 'peak_flops_per_s\.fp8'"):
        load(layer({"accelerator/gb300": text}), "accelerator", "gb300")


def test_every_phase_of_attention_is_needed(layer):
    text = f'title = "x"\n[figures."attention_fraction.forward"]\nvalue = 0.5\n{GOOD}'
    with pytest.raises(CatalogueError, match=r"figures\.attention_fraction\.decode: missing"):
        load(layer({"efficiency/a": text}), "efficiency", "a")


@pytest.mark.parametrize(
    ("kind", "name", "key", "value", "message"),
    [
        ("link", "xdr-800", "ring_fraction", 1.2, "above 1"),
        ("stack", "nvidia-2026", "exposed.data", 1.2, "above 1"),
        ("site", "azure-us", "pue", 0.9, "below 1"),
    ],
)
def test_a_share_beyond_the_whole_is_refused(layer, kind, name, key, value, message):
    text = f'[figures."{key}"]\nvalue = {value}\n{GOOD}'
    with pytest.raises(CatalogueError, match=message):
        load(layer({f"{kind}/{name}": text}), kind, name)


def test_a_percentage_is_a_share(layer):
    mine = layer({"link/xdr-800": f'[figures.ring_fraction]\nvalue = "80 %"\n{GOOD}'})
    assert load(mine, "link", "xdr-800").ring_fraction == 0.8


def test_an_assumed_count_may_be_exact_when_that_is_written(layer, switch):
    ports = f'value = 64\nlow = 64\nhigh = 64\nnote = "recalled"\n{ASSUMED}'
    assert load(layer({"switch/a": switch(ports=ports)}), "switch", "a").figures["ports"].exact


def test_a_figure_without_a_range_is_exact(layer, switch):
    assert load(layer({"switch/a": switch()}), "switch", "a").figures["power_w"].exact


def test_the_published_text_defaults_to_the_value(layer, switch):
    assert load(layer({"switch/a": switch()}), "switch", "a").figures["power_w"].as_published == "2 kW"


def test_other_figures_keep_their_value_in_si(layer, switch):
    end = f'[[figures.power_w.others]]\nvalue = "3 kW"\nnote = "older"\n{GOOD}'
    others = load(layer({"switch/a": switch(end=end)}), "switch", "a").figures["power_w"].others
    assert [(other.value, other.note) for other in others] == [(3e3, "older")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[S]\ntitle = "x"\n', r"sources\.toml: S\.publisher: must be a text"),
        ("S = 1\n", r"sources\.toml: S: is not a table"),
        ('[S]\ntitle = "x"\npublisher = "x"\ndate = "x"\nwhere = "x"\nurl = "x"\n', r"S\.url: unknown key"),
        ("[S]\ndate = 2026-01-01\n", r"S\.date: must be a text"),
        ("[[S", r"sources\.toml: is not TOML"),
    ],
)
def test_a_fault_of_the_sources_is_named(layer, text, message):
    with pytest.raises(CatalogueError, match=message):
        sources(layer({"sources": text}))


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.floats(min_value=SMALLEST, max_value=LARGEST))
def test_a_value_written_by_units_comes_back_to_the_bit(layer, switch, number):
    power = f'value = "{units.text(number, "W")}"\n{GOOD}'
    assert load(layer({"switch/a": switch(power=power)}), "switch", "a").power_w == number


@pytest.mark.parametrize("number", ["1e308 W", "1e22 W", "1e-300 W"])
def test_a_size_that_nothing_has_is_refused(layer, switch, number):
    power = f'value = "{number}"\n{GOOD}'
    with pytest.raises(CatalogueError, match="of a size that nothing has"):
        load(layer({"switch/a": switch(power=power)}), "switch", "a")
