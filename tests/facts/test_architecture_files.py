import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooftree.errors import CatalogueError, RooftreeError
from rooftree.facts.architecture_files import (
    architecture_names,
    find_architecture,
    read_architecture,
    write_architecture,
)
from rooftree.facts.architectures import Experts, GroupedQuery, Latent, Transformer
from rooftree.formats.huggingface import read_config

CATALOGUE = Path(__file__).resolve().parents[2] / "catalogue"
SAMPLES = {
    "llama-3.1-8b": "meta-llama--Meta-Llama-3.1-8B",
    "llama-3.1-70b": "meta-llama--Meta-Llama-3.1-70B",
    "llama-3.1-405b": "meta-llama--Meta-Llama-3.1-405B",
    "deepseek-v3": "deepseek-ai--DeepSeek-V3",
    "deepseek-r1": "deepseek-ai--DeepSeek-R1",
}
SHAPE = Transformer(
    name="tiny",
    title="Tiny",
    layers=3,
    hidden=64,
    mlp_width=96,
    gated=True,
    attention=GroupedQuery(heads=4, kv_heads=2, head_dim=16),
    experts=None,
    dense_layers=3,
    vocabulary=100,
    tied_embeddings=False,
    prediction_layers=0,
    maximum_tokens=128,
    source="TEST",
    where="here",
)
TEXT = write_architecture(SHAPE)


def attempt(read, what):
    """What is read, or our own error; any other error is a failure."""
    try:
        return read(what)
    except RooftreeError as error:
        return error


@st.composite
def transformers(draw):
    small = st.integers(1, 500)
    layers, heads = draw(small), draw(st.integers(1, 8))
    words = st.text(min_size=1, max_size=20)
    grouped = st.builds(GroupedQuery, heads=st.just(heads * 3), kv_heads=st.just(heads), head_dim=small)
    latent = st.builds(
        Latent, heads=small, query_rank=small, kv_rank=small, nope_dim=small, rope_dim=small, value_dim=small
    )
    experts = draw(
        st.none()
        | st.builds(Experts, routed=st.just(500), active=small, shared=st.integers(0, 4), width=st.integers(1, 2**24))
    )
    return Transformer(
        name=draw(st.from_regex(r"[a-z0-9][a-z0-9.\-]{0,20}", fullmatch=True)),
        title=draw(words),
        layers=layers,
        hidden=draw(small),
        mlp_width=draw(small),
        gated=draw(st.booleans()),
        attention=draw(grouped | latent),
        experts=experts,
        dense_layers=layers if experts is None else draw(st.integers(0, layers)),
        vocabulary=draw(small),
        tied_embeddings=draw(st.booleans()),
        prediction_layers=draw(st.integers(0, 3)),
        maximum_tokens=draw(small),
        source=draw(words),
        where=draw(words),
        notes=tuple(draw(st.lists(st.text(max_size=20), max_size=3))),
    )


@settings(max_examples=100, deadline=None)
@given(shape=transformers())
def test_reading_what_was_written_gives_the_same(tmp_path_factory, shape):
    path = tmp_path_factory.mktemp("layer") / f"{shape.name}.toml"
    path.write_text(write_architecture(shape), encoding="utf-8")
    assert read_architecture(path) == shape


def faults(tmp_path, content):
    path = tmp_path / "tiny.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CatalogueError) as caught:
        read_architecture(path)
    assert all(fault.startswith(f"{path}: ") and fault.isprintable() for fault in caught.value.faults)
    return [fault.removeprefix(f"{path}: ") for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("layers = 3\nhidden", "layers = true\nhidden", "layers = true: is a truth value; write an integer"),
        ("hidden = 64", 'hidden = "64"', 'hidden = "64": is text; write an integer without quotes'),
        ("hidden = 64", "hidden = 64.0", "hidden = 64.0: is not an integer; write an integer"),
        ("hidden = 64", "hidden = 2024-01-01", "hidden = 2024-01-01: is not a number; write an integer"),
        ("hidden = 64", "hiden = 64", "hidden: is missing; is it meant by 'hiden'? write 'hidden'"),
        ("hidden = 64", "hidden = 0", "hidden = 0: is less than 1; write a positive integer"),
        ("gated = true", "gated = 1", "gated = 1: is not a truth value; write true or false"),
        ('source = "TEST"', 'source = ""', 'source = "": is not a text; write one in quotes'),
        ('source = "TEST"', "", "source: is missing; add it"),
        ("kv_heads = 2", "kv_heads = 3", "attention.kv_heads = 3: does not divide attention.heads = 4; try 2"),
        ('"grouped-query"', '"grouped"', "attention.kind = \"grouped\": is not known; did you mean 'grouped-query'?"),
        ("dense_layers = 3", "dense_layers = 2", "dense_layers = 2: all 3 layers are dense without [experts]"),
        (
            "[attention]",
            "[experts]\nrouted = 4\nactive = 5\nshared = 0\nwidth = 1\n[attention]",
            "experts.active = 5: is",
        ),
        ('title = "Tiny"', 'title = "Tiny"\nnotes = "a"', 'notes = "a": is not a list of texts'),
        ("[attention]", "[attentions]", "attention: is missing; is it meant by 'attentions'?"),
    ],
)
def test_a_wrong_line_is_named_with_its_place_and_the_remedy(tmp_path, old, new, line):
    assert old in TEXT
    assert any(fault.startswith(line) for fault in faults(tmp_path, TEXT.replace(old, new)))


def test_all_faults_of_a_file_are_raised_at_once(tmp_path):
    wrong = (
        TEXT.replace("hidden = 64", "hidden = -1")
        .replace("gated = true", "gated = 1")
        .replace("heads = 4", "heads = 0")
    )
    assert [fault.split(" ")[0] for fault in faults(tmp_path, wrong)] == ["hidden", "gated", "attention.heads"]


def test_an_unknown_key_is_a_fault(tmp_path):
    assert faults(tmp_path, "tied = true\n" + TEXT) == ["tied = true: is not known here; did you mean 'title'?"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"layers = ", "is not TOML"),
        (b"a = 1\na = 2", "is not TOML"),
        (b"\xff", "is not UTF-8"),
        (b"a = " + b"[" * 50_000, "is nested too deeply"),
        (b"#" * 100_000, "has more than 65,536 bytes"),
    ],
)
def test_a_file_that_is_not_an_architecture_gives_one_line(tmp_path, content, why):
    lines = faults(tmp_path, content)
    assert len(lines) == 1
    assert why in lines[0]


def layer(folder, *shapes):
    (folder / "architectures").mkdir(parents=True)
    for shape in shapes:
        (folder / "architectures" / f"{shape.name}.toml").write_text(write_architecture(shape))
    return folder


def test_a_later_layer_wins_and_adds(tmp_path):
    below = layer(tmp_path / "a", SHAPE, replace(SHAPE, name="low"))
    above = layer(tmp_path / "b", replace(SHAPE, title="Mine"), replace(SHAPE, name="high"))
    layers = [below, above, tmp_path / "no such layer"]
    assert architecture_names(layers) == ("high", "low", "tiny")
    assert find_architecture("tiny", layers).title == "Mine"
    assert find_architecture("tiny", layers[::-1]).title == "Tiny"
    assert find_architecture("low", layers).name == "low"


def test_an_unknown_name_gets_the_nearest_and_no_path_is_followed(tmp_path):
    layer(tmp_path / "a", SHAPE)
    (tmp_path / "outside.toml").write_text(TEXT)
    with pytest.raises(CatalogueError, match="did you mean 'tiny'"):
        find_architecture("tinny", [tmp_path / "a"])
    with pytest.raises(CatalogueError, match="is in no layer of the catalogue"):
        find_architecture("../../outside", [tmp_path / "a"])


@pytest.mark.parametrize("name", architecture_names([CATALOGUE]))
def test_each_shipped_architecture_is_read_and_its_source_is_listed(name):
    sources = tomllib.loads((CATALOGUE / "sources-architectures.toml").read_text())
    source = sources[find_architecture(name, [CATALOGUE]).source]
    assert source.keys() == {"title", "publisher", "date", "where", "kind"}


def test_the_shipped_architectures_are_these():
    assert architecture_names([CATALOGUE]) == tuple(sorted(SAMPLES))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_shipped_shapes_are_the_published_configurations(shared, name):
    shipped = find_architecture(name, [CATALOGUE])
    published = read_config(shared / "samples" / "hf_config" / f"{SAMPLES[name]}_config.json")
    labels = {field: getattr(shipped, field) for field in ("name", "title", "source", "where", "notes")}
    assert replace(published, **labels) == shipped


@settings(max_examples=100, deadline=None)
@given(line=st.text(max_size=30), at=st.integers(0, 25))
def test_any_line_in_a_file_gives_a_shape_or_our_own_error(tmp_path_factory, line, at):
    lines = TEXT.split("\n")
    path = tmp_path_factory.mktemp("layer") / "tiny.toml"
    path.write_text("\n".join([*lines[:at], line, *lines[at:]]), encoding="utf-8", newline="")
    answer = attempt(read_architecture, path)
    assert answer == SHAPE or all(fault.isprintable() for fault in answer.faults)
