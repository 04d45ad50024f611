"""The layers of the catalogue, its references and names; the faults of files are in test_part_files."""

import re
from pathlib import Path

import pytest

from rooftree.errors import CatalogueError
from rooftree.facts.catalogue import architecture, check, cluster, find, load, names, open_catalogue, sources
from rooftree.facts.hardware import KINDS
from rooftree.facts.shipped import shipped

SHIPPED = open_catalogue()
HALF_RATE = '[figures."peak_flops_per_s.fp8"]\nvalue = "4 PFLOPS"\nbasis = "measured"\nsource = "S"\nwhere = "here"\n'


def test_every_shipped_part_loads():
    check(open_catalogue())


def test_every_file_of_the_shipped_layer_is_a_part_that_git_keeps():
    root = shipped("catalogue")
    ignored = [line.strip() for line in (root.parent / ".gitignore").read_text("utf-8").splitlines()]
    unanchored = {line.strip("/") for line in ignored if not line.startswith("/")}
    assert unanchored.isdisjoint(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_parts(kind):
    assert names(SHIPPED, kind)


def test_a_later_layer_wins_for_its_figure(layer):
    part = load(layer({"accelerator/gb300": HALF_RATE}), "accelerator", "gb300")
    assert part.peak_flops_per_s["fp8"] == 4e15


def test_a_later_layer_leaves_the_other_figures(layer):
    part = load(layer({"accelerator/gb300": HALF_RATE}), "accelerator", "gb300")
    assert part.peak_flops_per_s["bf16"] == load(SHIPPED, "accelerator", "gb300").peak_flops_per_s["bf16"]


def test_each_figure_names_its_layer(layer, tmp_path):
    figures = load(layer({"accelerator/gb300": HALF_RATE}), "accelerator", "gb300").figures
    layers = figures["peak_flops_per_s.fp8"].layer, figures["peak_flops_per_s.bf16"].layer
    assert layers == (str(tmp_path / "mine"), "shipped")


def test_the_last_folder_wins(layer, tmp_path):
    layer({"accelerator/gb300": HALF_RATE}, "one")
    layer({"accelerator/gb300": HALF_RATE.replace("4 P", "3 P")}, "two")
    both = open_catalogue([tmp_path / "one", tmp_path / "two"])
    assert load(both, "accelerator", "gb300").peak_flops_per_s["fp8"] == 3e15


def test_the_home_layer_lies_between_fitted_and_given(layer, tmp_path, monkeypatch):
    monkeypatch.setenv("ROOFTREE_HOME", str(tmp_path / "home"))
    assert [each.name for each in layer({}).layers] == ["shipped", "fitted", "home", str(tmp_path / "mine")]


def test_a_home_without_a_catalogue_is_no_fault(tmp_path, monkeypatch):
    monkeypatch.setenv("ROOFTREE_HOME", str(tmp_path))
    assert names(open_catalogue(), "rack") == names(SHIPPED, "rack")


def test_a_layer_may_point_a_part_to_another(layer):
    mine = layer({"cluster/azure-gb300-4608": 'scale_out = "ndr-400"\n'})
    assert cluster(mine, "azure-gb300-4608").scale_out.name == "ndr-400"


def test_a_layer_may_add_a_part(layer, switch):
    assert load(layer({"switch/mine": switch()}), "switch", "mine").ports == 64


def test_a_layer_adds_its_sources(layer):
    assert sources(layer({}))["S"].publisher == "Maker"


def test_a_part_is_read_once():
    assert load(SHIPPED, "rack", "gb300-nvl72").host is load(SHIPPED, "host", "gb300-tray")


def test_a_count_is_an_integer():
    assert isinstance(cluster(SHIPPED, "azure-gb300-4608").racks, int)


def test_nothing_outside_the_layers_is_read(tmp_path, layer, switch):
    mine = layer({"switch/mine": switch(), "../outside": switch()})
    with pytest.raises(CatalogueError, match="is in no layer"):
        load(mine, "switch", "../../outside")


def test_an_unknown_part_gets_the_nearest_name():
    with pytest.raises(CatalogueError, match="did you mean 'gb300'"):
        load(SHIPPED, "accelerator", "gb30")


def test_an_unknown_kind_gets_the_nearest_name():
    with pytest.raises(CatalogueError, match="did you mean 'accelerator'"):
        names(SHIPPED, "acelerator")


def test_find_gives_every_kind_of_a_name():
    assert find(SHIPPED, "gb200-nvl72") == ["rack", "cluster"]


def test_find_gives_the_nearest_name():
    with pytest.raises(CatalogueError, match="did you mean 'gb300-nvl72'"):
        find(SHIPPED, "gb300-nvl7")


def test_an_unknown_reference_gets_the_nearest_name(layer):
    mine = layer({"host/gb300-tray": 'accelerator = "gb330"\n'})
    with pytest.raises(CatalogueError, match=r"gb300-tray\.toml: accelerator: 'gb330' .*did you mean 'gb300'"):
        load(mine, "host", "gb300-tray")


def test_a_fault_of_a_reference_is_told_with_its_own_file(layer):
    mine = layer({"link/xdr-800": '[figures.step_s]\nvalue = "x"\n'})
    with pytest.raises(CatalogueError, match=r"link.xdr-800\.toml: figures\.step_s"):
        cluster(mine, "azure-gb300-4608")


def test_a_fault_is_told_again_at_the_second_question(layer):
    mine = layer({"link/xdr-800": "[[x"})
    for _ in range(2):
        with pytest.raises(CatalogueError, match="is not TOML"):
            load(mine, "link", "xdr-800")


def test_check_tells_the_faults_of_all_files_once(layer):
    mine = layer({"link/xdr-800": "[[x", "link/ndr-400": "[[y", "site/azure-us": "pue = 2\n"})
    with pytest.raises(CatalogueError) as caught:
        check(mine)
    files = [Path(fault.partition(":")[0]).stem for fault in caught.value.faults]
    assert sorted(files) == ["azure-us", "ndr-400", "xdr-800"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CatalogueError, match="is no folder"):
        open_catalogue([tmp_path / "none"])


def test_a_folder_without_part_files(tmp_path):
    with pytest.raises(CatalogueError, match="holds no part files"):
        open_catalogue([tmp_path])


def test_a_misspelt_kind_is_not_ignored(layer, switch):
    with pytest.raises(CatalogueError, match="rename the folder to 'switch'"):
        layer({"swich/mine": switch()})


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_quotes_a_place_in_a_known_source(kind):
    figures = [figure for name in names(SHIPPED, kind) for figure in load(SHIPPED, kind, name).figures.values()]
    every = [each for figure in figures for each in (figure, *figure.others)]
    assert [each for each in every if each.source not in sources(SHIPPED) or not each.where] == []


@pytest.mark.parametrize(
    ("kind", "name", "key", "other"),
    [
        ("link", "xdr-800", "bandwidth_bytes_per_s", 50e9),
        ("accelerator", "gb300", "peak_w", 1200),
        ("rack", "gb300-nvl72", "power_limit_w", 142e3),
        ("cluster", "azure-gb300-4608", "spines", 32),
        ("prices", "gb300-rental", "accelerator_usd_per_h", 3.2),
    ],
)
def test_a_conflict_of_sources_is_kept_and_explained(kind, name, key, other):
    figure = load(SHIPPED, kind, name).figures[key]
    assert other in [each.value for each in figure.others]
    assert figure.note


def test_no_figure_rests_on_a_source_without_a_date():
    assert [key for key, source in sources(SHIPPED).items() if not re.search(r"20\d\d|-", source.date)] == []


def test_every_source_names_who_published_it():
    kinds = {source.kind for source in sources(SHIPPED).values()}
    assert [key for key, source in sources(SHIPPED).items() if source.publisher in kinds] == []


def test_a_home_that_is_a_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "home").write_text("x")
    monkeypatch.setenv("ROOFTREE_HOME", str(tmp_path / "home"))
    with pytest.raises(CatalogueError, match="ROOFTREE_HOME"):
        open_catalogue()


def test_an_architecture_without_a_source_is_refused(layer):
    text = (shipped("catalogue") / "architectures" / "llama-3.1-8b.toml").read_text("utf-8")
    mine = layer({"architectures/mine": re.sub(r'source = ".*"', 'source = "NOPE"', text)})
    with pytest.raises(CatalogueError, match="source 'NOPE' is not known"):
        architecture(mine, "mine")


@pytest.mark.parametrize("domain", [7, 144, 1000003])
def test_a_domain_must_divide_its_rack(layer, domain):
    figure = f'[figures.domain_accelerators]\nvalue = {domain}\nbasis = "derived"\nsource = "NV_ULTRA"\nwhere = "x"\n'
    with pytest.raises(CatalogueError, match="domain_accelerators"):
        cluster(layer({"rack/gb300-nvl72": figure}), "azure-gb300-4608")


def test_a_key_of_very_many_parts_is_refused_at_once(layer):
    with pytest.raises(CatalogueError, match="dots"):
        load(layer({"switch/a": ".".join("a" * 30000) + " = 1\n"}), "switch", "a")


def test_hidden_files_are_no_parts(layer):
    assert names(layer({"switch/.hidden": "x"}), "switch") == names(SHIPPED, "switch")
