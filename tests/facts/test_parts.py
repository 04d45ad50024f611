import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooftree.errors import CatalogueError
from rooftree.facts.catalogue import cluster, open_catalogue
from rooftree.facts.parts import walk, with_figure, with_figures

AZURE = cluster(open_catalogue(), "azure-gb300-4608")
FIGURES = {(kind, name, key): figure for kind, name, key, figure in walk(AZURE)}


def test_walk_begins_with_the_part_itself():
    assert next(walk(AZURE))[:2] == ("cluster", "azure-gb300-4608")


def test_walk_reaches_every_kind_of_part():
    kinds = {kind for kind, *_ in walk(AZURE)}
    assert kinds == {
        "cluster", "rack", "host", "accelerator", "efficiency", "link", "switch", "site", "prices", "stack",
    }  # fmt: skip


def test_walk_gives_each_figure_once():
    places = [place for *place, _ in walk(AZURE)]
    assert len(places) == len({tuple(place) for place in places})


@given(place=st.sampled_from(sorted(FIGURES)), factor=st.integers(min_value=2, max_value=9))
def test_only_the_figure_that_was_asked_for_changes(place, factor):
    value = FIGURES[place].value * factor + 1
    changed = with_figure(AZURE, *place, value)
    after = {(kind, name, key): figure for kind, name, key, figure in walk(changed)}
    assert {where for where in FIGURES if after[where] != FIGURES[where]} == {place}


@given(place=st.sampled_from(sorted(FIGURES)), factor=st.integers(min_value=2, max_value=9))
def test_the_field_follows_its_figure(place, factor):
    kind, name, key = place
    value = FIGURES[place].value * factor + 1
    parts = {"cluster": with_figure(AZURE, kind, name, key, value)}
    top = parts["cluster"]
    parts |= {"rack": top.rack, "host": top.rack.host, "accelerator": top.rack.host.accelerator}
    parts |= {"efficiency": top.rack.host.accelerator.efficiency, "switch": top.switch, "site": top.site}
    parts |= {"prices": top.prices, "stack": top.stack}
    parts |= {"link": next(link for link in (top.rack.scale_up, top.scale_out) if kind != "link" or link.name == name)}
    stem, _, entry = key.partition(".")
    field = getattr(parts[kind], stem)
    assert (field[entry] if entry else field) == value


def test_the_original_stays_as_it_was():
    before = AZURE.rack.host.accelerator.peak_w
    with_figure(AZURE, "accelerator", "gb300", "peak_w", before / 2)
    assert AZURE.rack.host.accelerator.peak_w == before


def test_parts_that_do_not_change_are_shared():
    assert with_figure(AZURE, "site", "azure-us", "pue", 1.3).rack is AZURE.rack


def test_a_part_that_stands_twice_changes_twice():
    both = replace(AZURE, scale_out=AZURE.rack.scale_up)
    changed = with_figure(both, "link", "nvlink5", "ring_fraction", 0.5)
    assert (changed.scale_out.ring_fraction, changed.rack.scale_up.ring_fraction) == (0.5, 0.5)


def test_several_figures_change_together():
    changed = with_figures(AZURE, {("site", "azure-us", "pue"): 1.3, ("cluster", "azure-gb300-4608", "racks"): 8})
    assert (changed.site.pue, changed.racks) == (1.3, 8)


def test_a_count_stays_an_integer():
    assert isinstance(with_figure(AZURE, "cluster", "azure-gb300-4608", "racks", 8.0).racks, int)


def test_a_broken_count_is_refused():
    with pytest.raises(CatalogueError, match="give a whole number"):
        with_figure(AZURE, "cluster", "azure-gb300-4608", "racks", 8.5)


@pytest.mark.parametrize(
    "place", [("host", "gb200-tray", "cpus"), ("host", "gb300-tray", "cpu"), ("precision", "fp8", "bits")]
)
def test_a_figure_that_the_tree_does_not_have(place):
    with pytest.raises(KeyError):
        with_figure(AZURE, *place, 1.0)


def test_a_tree_travels_to_another_process():
    assert pickle.loads(pickle.dumps(AZURE)) == AZURE  # noqa: S301
