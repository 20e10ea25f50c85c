"""The page of a plan: what an experiment needs at least, whom to ask, who is not needed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gobetween.export import numbered
from gobetween.pages import figures, what_if
from gobetween.pages.blocks import Block, Card, Grid, Picture, Section, Text, Tile
from gobetween.pages.charts import Lines
from gobetween.pages.drawing import drawn as on_page
from gobetween.pages.svg import Row, share
from gobetween.simulation.plan import Plan, QuestionPlan
from gobetween.words import plan as words
from gobetween.words.numbers import amount, chance, means_of, percent
from gobetween.words.verdict import family_words, question_words

BAR = 16
MOST_DELTAS = 3  # columns of expected queries


def title_of(title: str, plan: Plan | QuestionPlan) -> str:
    """The file's title, or the size of the problem."""
    return title or f"{numbered(plan.problem.K, 'arm')}, {numbered(plan.problem.E, 'mediator')}"


def sections(plan: Plan | QuestionPlan, drawn: bool = False) -> list[Section]:
    """The answer, what each risk costs, mediators, arms, what would change the cost, the theory; `drawn`: for a report."""
    first = Section("", [opening(plan)])
    if plan.bound.status == "tie":
        return [first]
    parts = [first, _targets(plan, drawn), _mediators(plan, drawn), _arms(plan, drawn)]
    if isinstance(plan, Plan):
        parts += [
            *what_if.sections(plan, drawn),
            Section("Who is not needed", [Text(line) for line in words.needed_words(plan)]),
        ]
    facts = [("Rewards", family_words(plan.problem.family)), *words.theory(plan)]
    return [part for part in (*parts, Section("Theory", [Grid((), facts)])) if part.blocks]


def opening(plan: Plan | QuestionPlan) -> Card:
    """What is needed at least, for the first risk."""
    if plan.bound.status == "tie":
        return Card(words.plan_headline(plan), [], tone="bad")
    return Card(words.plan_headline(plan), words.plan_texts(plan), [_answer(plan), *_least(plan), *_price(plan)])


def _answer(plan: Plan | QuestionPlan) -> Tile:
    if isinstance(plan, QuestionPlan):
        said = plan.bound.question.sentence(plan.answer)
        return Tile("Answer, as guessed", ", ".join(plan.answer) or "none", f"{question_words(plan.bound.question)}: {said}")
    rival = plan.problem.arms[plan.hardest_rival]
    return Tile("Best arm, as guessed", plan.best_arms[0], f"hardest to tell from {rival}", colour=plan.bound.leader)


def _least(plan: Plan | QuestionPlan) -> list[Tile]:
    last = plan.deltas[-1]
    what = f"Least {plan.unit} for {chance(last)}"
    note = f"{amount(plan.bound.cost(last) / plan.bound.cost(plan.deltas[0]))} times as much as for {chance(plan.deltas[0])}"
    more = [Tile(what, amount(plan.bound.cost(last)), note)] if plan.deltas[1:] and plan.bound.cost(plan.deltas[0]) else []
    if plan.problem.direct:
        return more
    e = int(plan.bound.omega.argmax())
    return [*more, Tile("Ask most", plan.problem.mediators[e], f"{percent(float(plan.bound.omega[e]))} of the queries")]


def _price(plan: Plan | QuestionPlan) -> list[Tile]:
    return [Tile("Price of mediation", *words.price_words(plan))] if isinstance(plan, Plan) else []


def _targets(plan: Plan | QuestionPlan, drawn: bool) -> Section:
    costly, rows = plan.unit == "cost", []
    for delta in plan.deltas:
        cost = [amount(plan.bound.cost(delta))] if costly else []
        rows.append([chance(delta), *cost, amount(plan.bound.queries(delta)), *_ends(plan, delta)])
    columns = ["cost", "queries it pays for"] if costly else ["queries"]
    ends = [f"{plan.unit}, best case", "worst case"] if plan.supported else []
    blocks: list[Block] = [Grid(["risk of a wrong answer", *columns, *ends], rows)]
    if drawn:
        blocks.append(Picture("risk", curve(plan), words.BY_RISK.format(plan.unit)))
    return Section(words.targets_title(plan), blocks)


def _ends(plan: Plan | QuestionPlan, delta: float) -> list[str]:
    """The least and the largest expected cost that unknown policies leave possible; none where all are known."""
    if plan.supported is None:
        return []
    scale = plan.bound.cost(delta) / plan.bound.T_star
    ends = scale * plan.supported.T_best, scale * plan.supported.T_without
    return [amount(end) if math.isfinite(end) else "no limit" for end in ends]


def curve(plan: Plan | QuestionPlan) -> Lines:
    """The cost against δ, with a dot at the first."""
    risks = what_if.risks(plan.deltas)
    return figures.cost_by_risk({"least": plan.bound.T_star}, risks, plan.unit, here=min(plan.deltas[0], 0.3))


def _mediators(plan: Plan | QuestionPlan, drawn: bool) -> Section:
    if plan.problem.direct:
        return Section("", [])
    costly, some, omega = plan.problem.costs is not None, plan.deltas[:MOST_DELTAS], plan.bound.omega.tolist()
    rows = []
    for e, name in enumerate(plan.problem.mediators):
        cost = [percent(float(plan.bound.cost_shares[e]))] if costly else []
        rows.append([name, percent(omega[e]), *cost, *(amount(omega[e] * plan.bound.queries(delta)) for delta in some)])
    columns = ["share of queries", *(["share of cost"] if costly else []), *(f"queries for {chance(delta)}" for delta in some)]
    note = "Bars: shares of queries" + ("; marks: shares of the cost." if costly else ".")
    picture = Picture("mediators", figures.bound(plan.bound), note)
    return Section(
        "How often to ask each mediator", _pictured(["mediator", *columns], rows, plan.bound.omega.tolist(), picture, drawn)
    )


def _arms(plan: Plan | QuestionPlan, drawn: bool) -> Section:
    text, shares = means_of(plan.problem.family), plan.bound.arm_weights.tolist()
    rows = [
        [name, text(float(plan.problem.means[a])), percent(share)]
        for a, (name, share) in enumerate(zip(plan.problem.arms, shares, strict=True))
    ]
    if plan.problem.silent:
        shares.append(max(0.0, 1.0 - sum(shares)))
        rows.append(["(no answer)", "", percent(shares[-1])])
    heading = "What to pull" if plan.problem.direct else "What they will pull"
    picture = Picture("arms", figures.pulled([row[0] for row in rows], shares, plan.problem.K), "Shares of queries.")
    return Section(heading, _pictured(("arm", "mean", "share of queries"), rows, shares, picture, drawn))


def _pictured(
    header: Sequence[str], rows: list[list[str]], shares: Sequence[float], picture: Picture, drawn: bool
) -> list[Block]:
    """A table under its picture, or with bars of letters in a terminal."""
    if drawn:
        return [picture, Grid(header, rows)]
    bars = ["█" * round(BAR * share) for share in shares]
    return [Grid([*header, ""], [[*row, bar] for row, bar in zip(rows, bars, strict=True)])]


@dataclass(frozen=True)
class CostPage:
    """What a study would cost, at a glance: for the risk that is asked for, for others, and by mediators."""

    headline: str
    texts: Sequence[str]
    curve: str = ""
    caption: str = ""
    mediators: Sequence[Row] = ()


def cost_page(plan: Plan) -> CostPage:
    """Read a plan."""
    headline, texts = words.plan_headline(plan), words.plan_texts(plan)
    if plan.bound.status == "tie":
        return CostPage(headline, texts)
    if not plan.problem.direct and not plan.price.is_free:
        texts.append(f"Acting through mediators takes {' '.join(words.price_words(plan))}.")
    rows = () if plan.problem.direct else _asked(plan)
    return CostPage(headline, texts, on_page(curve(plan)), words.BY_RISK.format(plan.unit), rows)


def _asked(plan: Plan) -> list[Row]:
    """Mediators by their share of the queries."""
    shares = {name: float(plan.bound.omega[e]) for e, name in enumerate(plan.problem.mediators)}
    ranked, most = sorted(shares, key=lambda name: -shares[name]), max(shares.values())
    return [
        Row(name, "" if shares[name] else "not needed", f"{shares[name]:.0%}", "", share(shares[name], None, most, ""))
        for name in ranked
    ]
