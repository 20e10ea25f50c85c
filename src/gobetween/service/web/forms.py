"""A new study from a form with a row for each arm and mediator, what it would cost, and a larger budget.

It works without a script: a button adds or removes a row. What is wrong is said beside its field.
"""

import re
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gobetween.errors import Fix, GoBetweenError, SpecError
from gobetween.files.fields import number
from gobetween.files.problem import parse_budget, parse_spec
from gobetween.files.rules import table_of
from gobetween.pages.plan import cost_page
from gobetween.service.errors import status_of
from gobetween.service.request import StudyDep, StudyRequest, make_study
from gobetween.service.threads import WriterRoute
from gobetween.service.web.layout import page
from gobetween.service.web.login import Form, proof_of
from gobetween.service.web.views import address, back_to
from gobetween.simulation.plan import make_plan
from gobetween.study.spec.spec import parse_study
from gobetween.words.fixes import FILE, PYTHON
from gobetween.words.new_study import FIELDS, MEASURES, QUESTIONS, Choice
from gobetween.words.numbers import exact

router = APIRouter(include_in_schema=False, route_class=WriterRoute)
SOURCE = "the form"
FIRST = {"arms": "2", "mediators": "2", "measure": "yes-no", "delta": "5", "lease": "3d", "in_flight": "1", "silent": "yes"}
MOST = {"arm": 50, "mediator": 100}  # rows
ROW = {"arm": ("name", "mean"), "mediator": ("name", "cost", "contact")}
OWN_WORDS = ("question", "option", "outcome", "yes", "no")
PLACE = re.compile(r"\b(title|family|question|delta|lease|in_flight|silent|name|budget)\b")
NESTED = re.compile(r"\b(arm|mediator)s\[(\d+)\](?:\.(\w+))?")


class FieldError(SpecError):
    """What is wrong in one field of the form."""

    def __init__(self, place: str, words: str) -> None:
        super().__init__(words)
        self.place = place


@router.get("/new")
def empty(request: Request) -> HTMLResponse:
    """The form."""
    return _page(request, FIRST)


@router.post("/new")
def filled(request: Request, form: Form) -> Response:
    """One row more or less, what it would cost, or the study itself."""
    want, *which = form.get("want", "").split("-")
    if want in ("add", "remove"):
        return _page(request, _changed(form, want, *which))
    kept = {kind: _rows(form, kind) for kind in ROW}
    try:
        data = _table(form, kept)
        if want == "plan":
            spec = parse_spec(data, SOURCE, guess=True)
            plan = make_plan(spec.problem, spec.settings.delta or (0.05,), spec.guessed)
            return _page(request, form, cost=cost_page(plan))
        made = make_study(request, form.get("name", ""), parse_study(data, SOURCE))
        return RedirectResponse(f"/studies/{made.slug}", 303)
    except GoBetweenError as error:
        words = error.sentence(fixes={**PYTHON, **FILE, "status": "choose another"}).removeprefix(f"{SOURCE}: ")
        place = error.place if isinstance(error, FieldError) else "name" if error.fix == Fix("status") else _place(words, kept)
        return _page(request, form, {place: words}, status_of(error))


def _place(words: str, kept: Mapping[str, list[int]]) -> str:
    """Which field an error is about."""
    nested, plain = NESTED.search(words), PLACE.search(words)
    if nested and int(nested[2]) < len(kept[nested[1]]):
        return f"{nested[1]}-{kept[nested[1]][int(nested[2])]}-{nested[3] or 'name'}"
    if words.startswith(("arms", "mediators")):
        return words.split(":")[0].split()[0].rstrip("s") + "s"
    return {"family": "measure"}.get(plain[1], plain[1]) if plain else ""


def _count(form: Mapping[str, str], kind: str) -> int:
    said = form.get(f"{kind}s", "2")
    return min(MOST[kind], max(1, int(said) if said.isdecimal() else 2))


def _rows(form: Mapping[str, str], kind: str) -> list[int]:
    """The rows in which something stands."""
    return [i for i in range(_count(form, kind)) if any(form.get(f"{kind}-{i}-{field}", "").strip() for field in ROW[kind])]


def _changed(form: Mapping[str, str], want: str, kind: str = "", place: str = "") -> dict[str, str]:
    """The form with a row more, or without one."""
    if kind not in ROW:
        return dict(form)
    count = _count(form, kind)
    if want == "add":
        return dict(form) | {f"{kind}s": str(min(MOST[kind], count + 1))}
    gone = int(place) if place.isdecimal() else count
    moved = {key: value for key, value in form.items() if not re.match(rf"{kind}-\d+-|mediator-\d+-policy-\d+$", key)}
    arms, mediators = ([i for i in range(_count(form, one)) if (one, i) != (kind, gone)] for one in ROW)
    for new, old in enumerate(arms if kind == "arm" else mediators):
        moved |= {f"{kind}-{new}-{field}": form.get(f"{kind}-{old}-{field}", "") for field in ROW[kind]}
    for e, old in enumerate(mediators):
        moved |= {f"mediator-{e}-policy-{a}": form.get(f"mediator-{old}-policy-{b}", "") for a, b in enumerate(arms)}
    return moved | {f"{kind}s": str(max(1, count - 1))}


def _table(form: Mapping[str, str], kept: Mapping[str, list[int]]) -> dict[str, Any]:
    """The same as a file would say it."""
    data: dict[str, Any] = {"title": form.get("title", "").strip(), "silent": form.get("silent") == "yes"}
    data |= {"family": _picked(form, "measure", MEASURES), "question": _picked(form, "question", QUESTIONS)}
    if delta := form.get("delta", "").strip():
        data["delta"] = _number(delta, "delta", FIELDS["delta"][0], percent=True)
    if in_flight := form.get("in_flight", "").strip():
        data["in_flight"] = int(in_flight) if in_flight.isdecimal() else in_flight
    if lease := form.get("lease", "").strip():
        data["lease"] = lease
    if budget := _budget(form):
        data["budget"] = budget
    if own := {key: text for key in OWN_WORDS if (text := form.get(f"inbox-{key}", "").strip())}:
        data["inbox"] = own
    data["arms"] = [_row(form, "arm", i) for i in kept["arm"]]
    data["mediators"] = [_row(form, "mediator", e) | _policy(form, e, kept["arm"]) for e in kept["mediator"]]
    return data


def _picked(form: Mapping[str, str], field: str, choices: Mapping[str, Choice]) -> dict[str, Any]:
    """What was chosen in a field of radio buttons, with its parameters, as a table of a file."""
    choice = choices.get(form.get(field, ""), next(iter(choices.values())))
    said = {key: form.get(f"{field}-{key}", "").strip() or default for key, _, default in choice.fields}
    if choice.name is None:
        return table_of(next(iter(said.values())))
    labels = {key: label for key, label, _ in choice.fields}
    table: dict[str, Any] = {"name": choice.name}
    for key, text in said.items():
        table[key] = text if text == "unknown" else _number(text, f"{field}-{key}", labels[key])
    if "high" in table and not table["low"] < table["high"]:
        raise FieldError(f"{field}-high", "enter a highest value above the lowest")
    return {key: int(value) if key in ("n", "m") and value == int(value) else value for key, value in table.items()}


def _budget(form: Mapping[str, str]) -> dict[str, float]:
    return {
        key: int(said) if key == "queries" and said.isdecimal() else _number(said, name, FIELDS[name][0])
        for key, name in (("queries", "budget-queries"), ("cost", "budget-cost"))
        if (said := form.get(name, "").strip())
    }


def _row(form: Mapping[str, str], kind: str, i: int) -> dict[str, Any]:
    said = {field: text for field in ROW[kind] if (text := form.get(f"{kind}-{i}-{field}", "").strip())}
    numbers = {key: _number(said[key], f"{kind}-{i}-{key}", key) for key in ("mean", "cost") if key in said}
    return {"name": ""} | said | numbers


def _policy(form: Mapping[str, str], e: int, arms: list[int]) -> dict[str, Any]:
    """How often it pulls each arm, in percent; nothing where no field is filled in."""
    said = [form.get(f"mediator-{e}-policy-{a}", "").strip() for a in arms]
    where, name = f"mediator-{e}-policy", form.get(f"mediator-{e}-name", "").strip() or f"mediator {e + 1}"
    if not any(said):
        return {}
    shares = [_number(text, where, f"a share of {name}", percent=True) if text else 0.0 for text in said]
    total = sum(shares)
    if abs(total - 1.0) > 0.005 and not (form.get("silent") == "yes" and total < 1.0):
        raise FieldError(where, f"{name}'s shares sum to {100.0 * total:.4g}%; they must sum to 100%")
    return {"policy": [share / total for share in shares] if abs(total - 1.0) <= 0.005 else shares}


def _number(text: str, place: str, name: str, percent: bool = False) -> float:
    try:
        value = float(text.replace(",", ".").removesuffix("%").strip())
        return number(value / 100.0 if percent else value, name)
    except (ValueError, GoBetweenError):
        raise FieldError(place, f"{name}: {text!r} is not a number, such as {'5' if percent else '0.5'}") from None


def _page(
    request: Request, typed: Mapping[str, str], wrong: Mapping[str, str] | None = None, status: int = 200, cost: Any = None
) -> HTMLResponse:
    rows = {kind: range(_count(typed, kind)) for kind in ROW}
    values = {"typed": typed, "rows": rows, "wrong": wrong or {}, "fields": FIELDS, "measures": MEASURES, "cost": cost}
    values |= {"questions": QUESTIONS, "own_words": OWN_WORDS}
    return page("new.html", "New study", {"proof": proof_of(request), "scripts": ["form.js"], **values}, status)


@router.get("/studies/{study}/budget")
def budget(request: Request, on: StudyDep) -> HTMLResponse:
    """How much more may be spent."""
    return _budget_page(request, on, {})


@router.post("/studies/{study}/budget")
def extended(request: Request, on: StudyDep, form: Form) -> Response:
    """A larger budget; a study that has stopped goes on, one that is paused stays so."""
    try:
        said, (queries, cost) = parse_budget(_budget(form)), on.study.look()[0].spent
        if (said.queries or queries + 1) <= queries or (said.cost or cost + 1.0) <= cost:
            raise SpecError(f"{queries:,} queries at a cost of {exact(cost)} are spent already: enter more than that")
        spec = on.study.spec.edited("max_queries", said.queries).edited("max_cost", said.cost)
        on.study.edit(spec)
        if on.study.look()[0].stopped is not None:
            on.study.resume()
    except SpecError as error:
        return _budget_page(request, on, form, error.sentence(), status_of(error))
    return back_to(on)


def _budget_page(
    request: Request, on: StudyRequest, form: Mapping[str, str], wrong: str = "", status: int = 200
) -> HTMLResponse:
    found = on.study.status()
    held = {"queries": found.max_queries, "cost": found.max_cost}
    said = {key: form.get(f"budget-{key}", "" if value is None else f"{value:.15g}") for key, value in held.items()}
    values = {"at": address(on), "said": said, "used": found, "wrong": wrong, "proof": proof_of(request), "width": "narrow"}
    return page("budget.html", "Budget", values, status)
