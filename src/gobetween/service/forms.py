"""A new study from a form, and what it would cost; what is wrong is said beside its field."""

import html
import re
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gobetween.errors import FIXES, Fix, GoBetweenError, SpecError
from gobetween.files.fields import IN_FILE
from gobetween.files.problem import parse_spec
from gobetween.files.rules import table_of
from gobetween.pages.html import section_html
from gobetween.pages.plan import sections
from gobetween.service.call import home_of
from gobetween.service.entry import Form, proof_of
from gobetween.service.home import slug_of
from gobetween.service.refusals import NotFoundError, status_of
from gobetween.service.views import shown
from gobetween.simulation.plan import make_plan
from gobetween.study.opening import add_study
from gobetween.study.spec import parse_study

router = APIRouter(include_in_schema=False)
#: Name → label, hint, what stands there at first; in the order of the page.
FIELDS: Mapping[str, tuple[str, str, str]] = {
    "name": ("Short name", "for addresses and the command line", "trial"),
    "title": ("Title", "what mediators read above their inbox", ""),
    "family": ("Rewards", "bernoulli (0 or 1), poisson, gaussian:sigma=2, bounded:low=0,high=10 …", "bernoulli"),
    "delta": ("Risk of a wrong answer", "such as 0.05", "0.05"),
    "arms": ("Arms", "one on a line; with your guess of the mean, which only plans need: letter = 0.6", ""),
    "mediators": ("Mediators", "one on a line: name | how often it pulls each arm, or nothing | cost | contact", ""),
    "lease": ("Time for an answer", "such as 12h or 3d; empty: no end", "3d"),
    "in_flight": ("Queries kept open", "each answer brings the next query by itself; empty: they are asked for", "1"),
}
SOURCE = "the form"
LONG = ("arms", "mediators")
PLACE = re.compile(r"\b(title|family|delta|arms|mediators|lease|in_flight|name)\b")


@router.get("/new")
def empty(request: Request) -> HTMLResponse:
    """The form."""
    return _page(request, {name: first for name, (_, _, first) in FIELDS.items()} | {"silent": "yes"})


@router.post("/new")
def filled(request: Request, form: Form) -> Response:
    """What it would cost, or the study itself."""
    try:
        data = _table(form)
        if form.get("want") == "plan":
            spec = parse_spec(data, SOURCE, guess=True)
            plan = make_plan(spec.problem, spec.settings.delta or (0.05,), spec.guessed)
            cost = "".join(section_html(section) for section in sections(plan))
            return _page(request, form, before=f"<h2>What it would cost</h2>{cost}<h2>The study</h2>")
        store = home_of(request).makes
        if store is None:
            raise NotFoundError("this server makes no studies: whoever runs it must name a store for them")
        add_study(store, form.get("name", ""), parse_study(data, SOURCE))
        return RedirectResponse(f"/studies/{slug_of(form['name'])}", 303)
    except GoBetweenError as error:
        words = error.sentence(fixes={**FIXES, **IN_FILE, "status": "choose another"}).removeprefix(f"{SOURCE}: ")
        found = PLACE.search(words)
        place = "name" if error.fix == Fix("status") else found[1] if found else ""
        return _page(request, form, {place: words}, status=status_of(error))


def _table(form: Mapping[str, str]) -> dict[str, Any]:
    """The same as a file would say it."""
    said = {name: form.get(name, "").strip() for name in FIELDS}
    data: dict[str, Any] = {"title": said["title"], "silent": form.get("silent") == "yes"}
    if said["family"]:
        data["family"] = table_of(said["family"])
    if said["delta"]:
        data["delta"] = _number(said["delta"], "delta")
    if said["in_flight"]:
        data["in_flight"] = int(said["in_flight"]) if said["in_flight"].isdecimal() else said["in_flight"]
    if said["lease"]:
        data["lease"] = said["lease"]
    data["arms"] = [_arm(line) for line in said["arms"].splitlines() if line.strip()]
    data["mediators"] = [_mediator(line) for line in said["mediators"].splitlines() if line.strip()]
    return data


def _arm(line: str) -> dict[str, Any]:
    name, equals, mean = line.rpartition("=")
    if equals and not name.strip():
        raise SpecError(f"arms: {line.strip()!r} has no name: write name = mean")
    return {"name": name.strip(), "mean": _number(mean, f"arms: {line.strip()!r}")} if equals else {"name": line.strip()}


def _mediator(line: str) -> dict[str, Any]:
    parts = [part.strip() for part in line.split("|")]
    if len(parts) > 4:
        raise SpecError(f"mediators: {line.strip()!r} has more than four parts: write name | policy | cost | contact")
    name, policy, cost, contact = [*parts, "", "", ""][:4]
    if not name:
        raise SpecError(f"mediators: {line.strip()!r} has no name: write name | policy | cost | contact")
    where = f"mediators: {line.strip()!r}"
    made: dict[str, Any] = {"name": name}
    if policy:
        made["policy"] = [_number(part, where) for part in policy.replace(";", ",").split(",")]
    if cost:
        made["cost"] = _number(cost, where)
    return made | ({"contact": contact} if contact else {})


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SpecError(f"{where}: {text.strip()!r} is not a number, such as 0.05") from None


def _page(
    request: Request, typed: Mapping[str, str], wrong: Mapping[str, str] | None = None, before: str = "", status: int = 200
) -> HTMLResponse:
    wrong = wrong or {}
    fields = "".join(_field(name, typed.get(name, ""), wrong.get(name)) for name in FIELDS)
    silent = f'<input type="checkbox" name="silent" value="yes"{" checked" if typed.get("silent") == "yes" else ""}>'
    told = f'<p class="alarm" role="alert">{html.escape(wrong[""])}.</p>' if "" in wrong else ""
    body = (
        f'{before}{told}<form method="post" action="/new">'
        f'<input type="hidden" name="proof" value="{proof_of(request)}">{fields}'
        f'<p><label class="choice">{silent} A mediator may answer that it could not</label></p><p class="buttons">'
        '<button name="want" value="study">Make the study</button>'
        '<button name="want" value="plan" class="other">What would it cost?</button></p></form>'
    )
    return shown("A new study", body, status=status)


def _field(name: str, value: str, wrong: str | None) -> str:
    label, hint, _ = FIELDS[name]
    marks = f' aria-describedby="{name}-hint"' + (' aria-invalid="true" autofocus' if wrong else "")
    text = html.escape(value)
    box = (
        f'<textarea id="{name}" name="{name}" rows="4"{marks}>{text}</textarea>'
        if name in LONG
        else f'<input id="{name}" name="{name}" autocomplete="off" value="{text}"{marks}>'
    )
    told = f'<span class="wrong" role="alert">{html.escape(wrong[:1].upper() + wrong[1:])}.</span>' if wrong else ""
    return (
        f'<p><label for="{name}">{label}</label>{box}<span class="soft" id="{name}-hint">{html.escape(hint)}</span>{told}</p>'
    )
