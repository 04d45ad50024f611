import os
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from rooftree.errors import ScenarioError
from rooftree.interfaces.report import _safe, render
from rooftree.interfaces.writing import check, write


class Page(HTMLParser):
    """What a page would load, what it says, and its scripts."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.words, self.scripts, self.tags = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        for name, value in attrs:
            if name == "href" and tag == "a":
                self.links.append(value)
            elif name in ("src", "href", "srcset", "data", "action", "poster", "background"):
                self.loads.append((tag, value))

    def handle_data(self, data):
        (self.scripts if self.tags and self.tags[-1][0] in ("script", "style") else self.words).append(data)


@pytest.fixture
def page(result, sources):
    return render(result, sources)


def test_nothing_is_loaded_from_anywhere(page):
    parsed = Page(page)
    assert parsed.loads == []
    (policy,) = [found["content"] for tag, found in parsed.tags if found.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_plotly_is_there_once(page):
    assert page.count("plotly.js v") == 1
    assert len(page) < 6_000_000


def test_the_answer_comes_first(page):
    assert page.index("6.42 s") < page.index("Where the time goes") < page.index("Figures used")
    assert page.index(">extrapolated<") < page.index("Where the time goes")


def test_the_headline_stands_at_the_top_and_pictures_keep_to_their_place(page):
    assert re.search(r"\.answer {[^}]*align-items: start;", page)
    assert re.search(r"\.picture {[^}]*overflow: hidden;", page)
    assert "new ResizeObserver(() => Plotly.relayout(place, { autosize: true })).observe(place);" in page


def test_names_of_files_are_no_html(result, sources):
    evil = "</script><img src=https://evil.test/x onerror=alert(1)>"
    answer = result.answers[0]
    slices = (replace(answer.time[0], name=evil, what=evil), *answer.time[1:])
    rows = (replace(answer.neighbours[0], what=evil, split=evil, id=evil),)
    figures = tuple(replace(use, part=evil, metric=evil) for use in answer.figures)
    evidence = tuple(replace(row, quantity=evil, largest_id=evil) for row in result.evidence)
    spoilt = replace(answer, title=evil, time=slices, neighbours=rows, figures=figures, notes=(evil,))
    page = render(replace(result, title=evil, answers=(spoilt,), evidence=evidence), sources)
    parsed = Page(page)
    assert parsed.loads == []
    assert "img" not in {tag for tag, _ in parsed.tags}
    assert "onerror" not in {name for _, found in parsed.tags for name in found}


def test_a_picture_cannot_end_its_script():
    assert _safe({"data": ["</script>&"]}) == '{"data":["\\u003c/script\\u003e\\u0026"]}'


def test_links_go_only_where_browsers_may_go(result, sources):
    bad = {"MAKER": replace(sources["MAKER"], where="javascript:alert(1)")}
    assert Page(render(result, sources)).links
    assert Page(render(result, bad)).links == []


def test_everything_that_the_answer_rests_on_is_named(page, result):
    text = " ".join(Page(page).words)
    for use in result.answers[0].figures:
        assert use.key in text
        assert f"“{use.figure.as_published}”" in text
    for other in result.answers[0].alternatives:
        assert other.why in text
    for row in result.answers[0].neighbours:
        assert row.what in text
    assert "the maker's own sheet wins" in text
    assert "279 GB" in text
    assert result.key in text


def test_rows_are_told_apart_and_nothing_is_said_to_be_fitted_on_them(page):
    words = " ".join(" ".join(Page(page).words).split())
    assert "Nothing was fitted on end-to-end runs." in words
    assert "Ranges come from the errors on rows marked “fit”; rows marked “test” set nothing." in words
    assert "4.1 % too slow" in words
    assert "7.7 % too fast" in words


def test_short_forms_of_layouts_are_explained(page, result, sources):
    legend = "tp tensor, cp context, pp pipeline, dp data, ep expert parallel; vp chunks a stage; mb microbatch"
    assert legend in page
    without = replace(result, answers=(replace(result.answers[0], alternatives=()),))
    assert legend not in render(without, sources)


def test_figures_of_the_user_are_named_by_their_layer(page, result, sources):
    assert "Figures from your catalogue: &lt;hbm&gt; (1)" in render(result, sources, "<hbm> (1)")
    assert "your catalogue" not in page


def test_a_bare_result_has_a_report_too(result):
    bare = replace(
        result.answers[0], time=(), memory=(), neighbours=(), alternatives=(), notes=(), figures=(), extrapolated=False
    )
    page = render(replace(result, answers=(bare,), conflicts=(), evidence=()), {})
    assert "within what was measured" in page
    assert "plotly.js v" not in page


def test_files_are_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    write(tmp_path, {"a.txt": "old"})
    full = OSError(28, "No space left on device")

    def fail(self, target):
        raise full

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(ScenarioError, match=r"a\.txt: cannot be written: No space left on device"):
        write(tmp_path, {"a.txt": "new"})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "old")]


def test_a_file_appears_only_when_it_is_complete(tmp_path, monkeypatch):
    seen = []
    real = os.replace

    def watch(source, target):
        seen.append(((tmp_path / "a.txt").exists(), source.read_text()))
        real(source, target)

    monkeypatch.setattr("os.replace", watch)
    write(tmp_path / "deep" / "er", {"a.txt": "whole"})
    assert seen == [(False, "whole")]


def test_a_folder_below_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ScenarioError, match="file: is a file, but results go into a folder; choose another"):
        check(tmp_path / "file" / "below")


def test_a_folder_that_may_not_be_written_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)
    with pytest.raises(ScenarioError, match="is not writable; change its permissions or choose another"):
        check(tmp_path / "a" / "b")


def test_looking_makes_nothing(tmp_path):
    check(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
