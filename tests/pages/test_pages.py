"""Pages are values: the same blocks for the terminal and for HTML."""

from pathlib import Path

import pytest

import gobetween as gb
from gobetween.pages import plan as plan_page
from gobetween.pages.blocks import Card, Grid, Picture, Section, Text
from gobetween.pages.html import render
from gobetween.pages.runs import summary_blocks
from gobetween.pages.study import report as study_page
from gobetween.pages.study import status as status_page
from gobetween.simulation.plan import make_plan
from gobetween.simulation.summary import Summary
from gobetween.study.spec.spec import parse_study

PROBLEM = gb.Problem(
    [1.0, 0.0], [[0.5, 0.5], [0.1, 0.9]], costs=[1.0, 2.0], arms=["<a>", "b"], mediators=["m", "n"], family=gb.Gaussian(1.0)
)


@pytest.fixture
def study(tmp_path: Path) -> gb.Study:
    spec = {"family": "bernoulli", "arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "m"}, {"name": "n"}]}
    return gb.Study.create(tmp_path / "s.sqlite", parse_study(spec, "test"))


def texts(sections: list[Section]) -> list[str]:
    return [block.words for section in sections for block in section.blocks if isinstance(block, Text)]


def grids(sections: list[Section]) -> list[Grid]:
    return [block for section in sections for block in section.blocks if isinstance(block, Grid)]


def test_a_row_that_begins_like_the_one_before_leaves_its_first_cell_empty() -> None:
    rows = [("a", "1"), ("a", "2"), ("b", "3"), ("a", "4")]
    assert Grid(("x", "y"), rows).grouped() == [["a", "1"], ["", "2"], ["b", "3"], ["a", "4"]]


def test_words_stand_left_and_numbers_right_in_html() -> None:
    page = render("t", [Section("", [Grid(("x", "y", ""), [("a", "1", "█")]), Grid((), [("name", "<fact>")])])])
    assert '<th>x</th><th>y</th><th class="words"></th>' in page
    assert '<td>a</td><td data-name="y">1</td><td class="words">█</td>' in page
    assert '<td class="words">name</td><td class="words">&lt;fact&gt;</td>' in page
    assert page.count("<thead>") == 1


def test_a_plan_is_a_page() -> None:
    parts = plan_page.sections(make_plan(PROBLEM, (0.1, 0.01)))
    assert [section.title for section in parts] == [
        "", "Least expected cost: no method does better on average", "How often to ask each mediator",
        "What they will pull", "What each mediator is worth, for a risk of 10%", "A new mediator",
        "If the means are closer together or farther apart", "If an arm at most ε below the best will do (epsilon-best)",
        "Who is not needed", "Theory",
    ]  # fmt: skip
    targets, mediators, arms, worths, gaps, tolerances, theory = grids(parts)
    (card,) = parts[0].blocks
    assert isinstance(card, Card)
    assert card.headline == "At least 15 queries for a risk of 10%"
    assert len(tolerances.rows) == 4
    assert [row[0] for row in worths.rows] == ["m", "n"]
    assert [row[0] for row in gaps.rows] == ["0.5 times", "0.75 times", "as guessed", "1.5 times", "2 times"]
    assert [tile.key for tile in card.tiles] == ["Best arm, as guessed", "Least cost for 1%", "Ask most", "Price of mediation"]
    assert [name for name, _ in theory.rows] == ["Rewards", "Hardest rival", "Price of mediation", "T*"]
    assert [row[0] for row in targets.rows] == ["10%", "1%"]
    assert [row[0] for row in mediators.rows] == ["m", "n"]
    assert [row[0] for row in arms.rows] == ["<a>", "b"]
    assert "&lt;a&gt;" in render("plan", parts)
    assert plan_page.title_of("", make_plan(PROBLEM)) == "2 arms, 2 mediators"


def test_a_plan_says_what_would_change_it() -> None:
    ladder = gb.Problem(
        [1.0, 0.5, 0.0], [[0.8, 0.2, 0.0], [0.5, 0.0, 0.5]], mediators=["only one", "other"], family=gb.Gaussian(1.0)
    )
    parts = plan_page.sections(make_plan(ladder, (0.1,)), drawn=True)
    named = {part.title: part for part in parts}
    _, worths, *_ = named["What each mediator is worth, for a risk of 10%"].blocks
    assert isinstance(worths, Grid)
    assert [row[:2] for row in worths.rows] == [["only one", "impossible"], ["other", "impossible"]]
    sentences = texts([named["A new mediator"]])
    assert "The best policy of a new mediator is arm" in sentences[0]
    assert sentences[1].startswith("To halve the number of queries, ")
    pictures = [block.name for part in parts for block in part.blocks if isinstance(block, Picture)]
    assert pictures == ["risk", "mediators", "arms", "worth", "gaps"]
    rare = make_plan(gb.Problem([1.0, 0.0], [[0.99, 0.01], [0.98, 0.02]], family=gb.Gaussian(1.0)))
    (part,) = (part for part in plan_page.sections(rare) if part.title == "A new mediator")
    assert texts([part])[1].endswith("is enough.")
    free = make_plan(gb.Problem([1.0, 0.0], [[0.5, 0.5]], family=gb.Gaussian(1.0)))
    (part,) = (part for part in plan_page.sections(free) if part.title == "A new mediator")
    assert texts([part])[0] == "No new mediator lowers the number of queries while a query costs as much as now."
    assert "would have to cost 0.5 of what one costs now or less" in texts([part])[1]


def test_a_tie_is_one_sentence() -> None:
    (part,) = plan_page.sections(make_plan(gb.Problem([1.0, 1.0, 0.0], family=gb.Gaussian(1.0))))
    (card,) = part.blocks
    assert isinstance(card, Card)
    assert [block.words for block in card.plain() if isinstance(block, Text)] == [
        "'arm 1' and 'arm 2' share the best mean: no number of queries can tell which is best"
    ]


def test_runs_that_did_not_stop_are_told() -> None:
    row = Summary(0.1, 9, 100.0, 5.0, (80.0, 99.0, 120.0), 0.0, 0.0, 0.3, 2, 200.0, 9.0, 50.0, None)
    grid, note, late = summary_blocks([row], priced=True)
    assert isinstance(grid, Grid)
    assert grid.rows == [("0.1", "100 ± 5", "200 ± 9", "0.0% ≤ 30.0%", "50.0", "")]
    assert isinstance(note, Text)
    assert note.kind == "note"
    assert late == Text("At 0.1, 2 runs had not stopped and count as long as they lasted.")


def test_terminal_and_report_show_the_same_status(study: gb.Study) -> None:
    for query in study.ask(30):
        if query.id < 4:
            study.tell(query, arm="ab"[query.id % 2], reward=1 - query.id % 2)
    study.away("n")
    status = study.status()
    title, report, page = study_page.report(study)
    shown = status_page.sections(page, study.view(0))
    assert title == f"Study {status.name}"
    assert [part.title for part in report] == [
        "Queries over time", "Arms in numbers", "Mediators in numbers", "26 open queries", "About this study",
        f"The last {status.events} events",
    ]  # fmt: skip
    facts, arms, mediators, pending = grids(shown)
    assert [tile.value for tile in page.tiles[1:]] == [fact.split(" · ")[0] for _, fact in facts.rows[1:4]]
    assert [grid.rows for grid in grids(report)[:2]] == [arms.rows, mediators.rows]
    timeless = [[[row[0], row[1], row[3]] for row in grid.rows[:20]] for grid in (grids(report)[2], pending)]
    assert timeless[0] == timeless[1]
    assert len(grids(report)[2].rows) == 26
    assert mediators.header == ("mediator", "asked", "answers", "share", "plan")
    assert [row[0] for row in mediators.rows] == ["m", "n (away)"]
    assert [row[0] for row in pending.rows] == [str(number) for number in range(4, 24)]
    assert page.headline == texts(shown)[0]
    assert {row.name: row.value for row in page.arms} == {arm["arm"]: f"{arm['estimate']:.0%}" for arm in status.arms}
    assert [tile.key for tile in page.tiles] == ["Leading", "Sure after", "Spent", "Waiting for answers"]
