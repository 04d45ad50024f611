"""The report: one HTML file that needs no network."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import cycle

from jinja2 import Environment, StrictUndefined, select_autoescape
from markupsafe import Markup

from rooftree.facts.sources import Source
from rooftree.interfaces import charts, words
from rooftree.interfaces.looks import COLOURS, Chart
from rooftree.interfaces.metrics import described
from rooftree.studies.results import Answer, Result, Slice
from rooftree.units import show


def render(result: Result, sources: Mapping[str, Source], own: str = "") -> str:
    """Return the report of a result as one self-contained HTML page.

    `sources` gives the titles of the documents whose keys stand in the figures; unknown keys are shown as they are.
    `own` names the user's layers of the catalogue that figures come from.
    """
    environment = Environment(
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        quantity=show,
        metric_value=lambda value, name: words.quantity(name, value),
        percent=words.percent,
        change=words.change,
        layout=words.layout_words,
        neighbour=words.neighbour_value,
        figure_value=words.figure_value,
        figure_here=words.figure_here,
        figure_range=words.figure_range,
        off=words.off,
        by_weight=words.by_weight,
        coloured=_coloured,
    )
    template = environment.from_string(_text("report.html.j2"))
    page: str = template.render(
        result=result,
        place=words.place(result),
        own=own,
        codes=words.CODES,
        sources=sources,
        metrics=_metrics(result),
        pictures=_pictures(result),
        style=Markup(_text("report.css")),  # noqa: S704  # our own file
        plotly=Markup(_plotly()),  # noqa: S704  # plotly's own bundle
        script=Markup(_text("report.js")),  # noqa: S704  # our own file
    )
    return page


def _coloured(slices: Sequence[Slice]) -> list[tuple[Slice, str]]:
    """Return the slices with their colours in the picture, the largest first and empty ones left out."""
    pairs = zip(slices, cycle(COLOURS), strict=False)
    return sorted((pair for pair in pairs if pair[0].value > 0), key=lambda pair: pair[0].value, reverse=True)


def _metrics(result: Result) -> dict[str, list[dict[str, str]]]:
    """Return the metrics of each answer in words, the headline first."""
    return {
        answer.question: [
            {
                "name": name,
                "title": described(name).title,
                "value": words.quantity(name, estimate.value),
                "range": words.interval(name, estimate),
                "equation": described(name).equation,
            }
            for name, estimate in answer.metrics.items()
        ]
        for answer in result.answers
    }


def _pictures(result: Result) -> dict[str, Markup]:
    """Return every picture of a report by the id of its place, as JSON that cannot end its script element."""
    pictures = {f"{answer.question}-{name}": chart for answer in result.answers for name, chart in _of(answer).items()}
    if result.evidence:
        pictures["evidence"] = charts.evidence_map(result.evidence, words.scale(result))
    return {name: Markup(_safe(chart)) for name, chart in pictures.items()}  # noqa: S704  # made safe


def _of(answer: Answer) -> dict[str, Chart]:
    """Return the pictures of one answer that have something to show."""
    pictures = {f"measured-{number}": chart for number, chart in enumerate(charts.scatters(answer).values())}
    if answer.time:
        pictures["time"] = charts.time_chart(answer)
    if answer.memory:
        pictures["memory"] = charts.memory_chart(answer)
    if answer.figures:
        pictures["figures"] = charts.tornado(answer)
    return pictures


def _safe(chart: Chart) -> str:
    """Return a picture as JSON without `<`, `>` and `&`."""
    text = json.dumps(chart, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plotly() -> str:
    """Return plotly.js, which may not end the script element it stands in."""
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    script: str = get_plotlyjs()
    return script.replace("</script", "<\\/script")


def _text(name: str) -> str:
    """Return one of the files that a report is made of."""
    return (files("rooftree.interfaces") / "templates" / name).read_text(encoding="utf-8")
