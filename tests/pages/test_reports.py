"""Reports as they are read: on a phone, in the dark, offline; what they say, and when things happened."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from memory_store import Memory
from parts import browser_page
from study_parts import Clock

import gobetween as gb
from gobetween.core.alarm.alarm import Alarm, Sentence
from gobetween.pages import figures
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text
from gobetween.pages.charts import Axis, Line, Lines
from gobetween.pages.html import render, write_report
from gobetween.pages.studies import study_row
from gobetween.pages.study import history
from gobetween.pages.study import report as study_page
from gobetween.pages.study import status as status_page
from gobetween.pages.study.page import study_page as page_of
from gobetween.study.spec.spec import parse_study

LONG = "the quite long name of an option that somebody wrote down in full, with all of it"
SOLID = "x" * 80
ALARM = Alarm("confounding", "a", 9.0, 4.0, True, True, Sentence("'a' pays differently with different mediators."))
SPEC: dict[str, Any] = {
    "title": "Which reminder?", "family": "bernoulli", "delta": 0.1, "lease": "6h", "budget": {"queries": 500, "cost": 2000.0},
    "arms": [{"name": "a"}, {"name": LONG}, {"name": SOLID}],
    "mediators": [{"name": LONG, "cost": 4.0, "contact": "north@example.org"}, {"name": SOLID}, {"name": "m"}],
}  # fmt: skip

OUTSIDE = """() => [...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect(), scrolls = e.closest('.scroll');
    const hidden = getComputedStyle(e).visibility === 'hidden' || e.closest('details:not([open])');
    if (!box.width || !box.height || hidden || (scrolls && scrolls !== e)) return false;
    return box.right > innerWidth + 1 || box.left < -1;
}).map(e => e.tagName + '.' + e.getAttribute('class') + ': ' + e.textContent.slice(0, 60))"""
CONTRAST = """() => {
    const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).map(x => { x /= 255; return x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; });
        return .2126 * r + .7152 * g + .0722 * b; };
    const page = light(getComputedStyle(document.body).backgroundColor), found = {};
    for (const e of document.querySelectorAll('h1, td, th, figcaption, figure text')) {
        const style = getComputedStyle(e), ink = light(e.tagName === 'text' ? style.fill : style.color);
        const under = e.classList.contains('alarm') ? light(style.backgroundColor) : page;
        found[e.tagName + (e.className.baseVal ?? e.className)] = (Math.max(ink, under) + .05) / (Math.min(ink, under) + .05);
    }
    return [page, found];
}"""


@pytest.fixture
def clock() -> Clock:
    made = Clock()
    made.now = 1_780_000_000.0
    return made


def study_of(clock: Clock, **changes: Any) -> gb.Study:
    store = Memory(clock)
    store.create("s", parse_study(SPEC | changes, "test").to_dict(), {"created": clock.now})
    return gb.Study(store, "s", "tester")


def used(study: gb.Study, clock: Clock, n: int) -> gb.Study:
    """Answers out of order, some late, some never, some taken out."""
    rng, held = random.Random(5), []
    for _ in range(n):
        clock.now += rng.expovariate(1 / 4000)
        held += study.ask()
        while len(held) > 4:
            query, luck = held.pop(rng.randrange(len(held))), rng.random()
            if luck < 0.1 and query.id in {waiting.id for waiting in study.pending()}:
                study.cancel(query)
            elif luck < 0.9:
                study.tell(query, arm=study.spec.arms[rng.randrange(3)], reward=rng.randrange(2))
    return study


def test_a_history_counts_as_the_study_does(clock: Clock) -> None:
    for wait_for in ("lease", "answer"):
        study = used(study_of(clock, wait_for=wait_for), clock, 60)
        told = [row["query"] for row in study.export() if row["status"] == "told"]
        study.void(told[0], reason="typed twice")
        study.void(told[-1], reason="typed twice")
        study.tell(mediator="m", arm="a", reward=1)
        study.rename("m", "renamed")
        state, status = study.look()[0], study.status()
        found = history.history(study.events(), state.trail, wait_for)
        assert found.counted == status.counted
        assert len(found.reached) == len(state.trail) > (5 if wait_for == "lease" else 0)
        assert found.reached == sorted(found.reached)
        assert set(found.asked) == {row["mediator"] for row in status.mediators if row["asked"] or row["unasked"]}
        assert {name: len(times) for name, times in found.asked.items()} == {
            row["mediator"]: row["asked"] + row["unasked"] for row in status.mediators if row["asked"] + row["unasked"]
        }
        assert found.last == status.at


def test_many_mediators_are_few_lines() -> None:
    asked = {f"m{i}": [float(t) for t in range(1000 + i)] for i in range(20)}
    drawn = history.lines(history.History(first=0.0, last=2000.0, asked=asked))
    assert list(drawn) == ["m19", "m18", "m17", "m16", "m15", "the other 15 together"]
    for name, (times, counts) in drawn.items():
        assert len(times) == len(counts) <= history.POINTS + 2
        assert counts[0] == 0
        assert counts[-1] == (len(asked[name]) if name in asked else sum(1000 + i for i in range(15)))


def test_the_report_has_all_that_status_has(clock: Clock) -> None:
    study = used(study_of(clock), clock, 30)
    study.away("m")
    title, parts, page = study_page.report(study, utc=True)
    named = {part.title: part for part in parts}
    assert title == page.title == "Which reminder?"
    assert [*named][:3] == ["Queries over time", "Arms in numbers", "Mediators in numbers"]
    (grid,) = (block for block in named["Mediators in numbers"].blocks if isinstance(block, Grid))
    assert [*grid.header][-3:] == ["cost of a query", "cost so far", "contact"]
    assert [row[-1] for row in grid.rows] == ["north@example.org", "", ""]
    assert grid.rows[2][0] == "m (away)"
    (about,) = (block for block in named["About this study"].blocks if isinstance(block, Grid))
    facts = {name: fact for name, fact in (*page.facts, *about.rows)}
    status = study.status()
    assert facts["Rewards"] == "bernoulli"
    assert facts["Risk of a wrong answer"].startswith("at most 10%")
    assert facts["Rules"] == "pursuit, e-process"
    assert facts["Budget"] == f"{status.queries:,} of 500 queries, cost {status.cost:g} of 2,000 used"
    assert facts["Made"] == "2026-05-28 20:26:40 UTC"
    assert {"First event", "Last event", "This page"} <= set(facts)
    assert "Stopped" not in facts
    assert f"{len(status.pending)} open queries" in named
    assert parts[-1].folded
    assert parts[-1].title == f"The last {status.events} events"


def test_a_study_without_events_has_a_report(clock: Clock) -> None:
    _, parts, page = study_page.report(study_of(clock))
    assert [part.title for part in parts] == ["Arms in numbers", "Mediators in numbers", "About this study"]
    assert (page.chips, page.headline) == ([("Not started", "")], "No answers yet")


def test_times_that_no_calendar_has_are_left_out(clock: Clock) -> None:
    clock.now = 1e20
    study = study_of(clock)
    study.tell(study.ask()[0], arm="a", reward=1)
    title, parts, page = study_page.report(study)
    assert "Queries over time" not in [part.title for part in parts]
    assert "after 1970" in render(title, parts, page=page)


def test_a_report_stays_in_its_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "report", tmp_path / "outside"
    folder.mkdir()
    outside.write_text("precious")
    (folder / "report.html").symlink_to(outside)
    with pytest.raises(gb.ResultsError, match=r"leads out of .*report: remove it$"):
        write_report(folder, "another", [Section("", [Text("words")])])
    assert outside.read_text() == "precious"


def test_alarms_are_boxes_above_the_answer(clock: Clock) -> None:
    quiet = replace(ALARM, raised=False)
    other = replace(ALARM, breaks=False, details=Sentence("'m' does not act by its declared policy."))
    view = study_of(clock).view(0)
    view = replace(view, status=replace(view.status, alarms=[quiet, ALARM, other]))
    page = page_of(view)
    parts = status_page.sections(page, view)
    assert parts[0].blocks[:2] == [Text(page.headline, "lead"), Text(ALARM.words)]  # the one that breaks the guarantee
    assert any(other.words in block.words for part in parts for block in part.blocks if isinstance(block, Text))
    assert page.texts[0] == ALARM.words


@pytest.fixture
def folder(tmp_path: Path, clock: Clock) -> Path:
    """A report with everything that is hard to show."""
    title, parts, page = study_page.report(used(study_of(clock), clock, 40))
    wide = Grid(["mediator", *(f"arm {i}" for i in range(40))], [[LONG, *("99.9%" for _ in range(40))]])
    x = Axis("queries until the rule stops, and more words that go on (log scale)", log=True)
    lines = [Line(SOLID, [(290.0, 1.0), (1377.0, 2.0)], "m0"), Line("other", [(290.0, 2.0), (1377.0, 1.0)], "m3")]
    times = Lines("A title that is rather long for the width of a phone", x, Axis("y"), lines)
    many = figures.arm_shares([f"{LONG} {i}" for i in range(50)], [0.02] * 50, [0.02] * 50)
    more: list[Block] = [wide, Picture("times", times, "log"), Picture("many", many, SOLID)]
    write_report(tmp_path, title, [Section("", [Text(ALARM.words, "alarm")]), *parts, Section("More", more)], page)
    return tmp_path


def test_on_a_phone_nothing_is_clipped_and_the_dark_is_dark(folder: Path) -> None:
    assert (folder / "report.html").stat().st_size < 150_000
    assert [path.name for path in folder.rglob("*")] == ["report.html"]
    with browser_page() as page:
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto((folder / "report.html").as_uri())
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
        assert page.evaluate(OUTSIDE) == []
        assert page.locator("#figure-times text").all_text_contents()[-2:] == ["500", "1,000"]
        assert page.get_by_role("alert").inner_text().startswith("Alarm: 'a' pays")
        page.locator("details summary").last.click()
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
        luminance, ratios = page.evaluate(CONTRAST)
        assert luminance > 0.9
        assert min(ratios.values()) >= 4.5, ratios
        page.emulate_media(color_scheme="dark")
        luminance, ratios = page.evaluate(CONTRAST)
        assert luminance < 0.05
        assert min(ratios.values()) >= 4.5, ratios
        page.set_viewport_size({"width": 1400, "height": 800})
        assert page.evaluate(OUTSIDE) == []
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
        assert page.locator("script").count() == 0


@pytest.mark.parametrize(("queries", "cost", "used"), [(4, 1000.0, 0.75), (1000, 12.0, 0.5), (5, None, 0.6), (None, 8.0, 0.75)])
def test_the_list_shows_how_much_of_the_scarcer_budget_is_used(queries: int | None, cost: float | None, used: float) -> None:
    """Three queries, which cost 2 each."""
    limits = {key: value for key, value in (("queries", queries), ("cost", cost)) if value is not None}
    store = Memory()
    data = {"family": "bernoulli", "arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "m", "cost": 2.0}]}
    store.create("s", parse_study(data | {"delta": 0.1, "budget": limits}, "test").to_dict(), {})
    study = gb.Study(store, "s")
    study.ask(3)
    row = study_row(study)
    assert row.used == pytest.approx(used)
    assert row.spent == (f"3 of {queries:,}" if cost is None else f"6 of {cost:,.0f}")
