"""A mediator's inbox as a page: the open query in plain words, a form, what was answered, and a way to say that it was wrong.

It works without a script. A form leads to another address, so that a reload sends nothing, and the same answer again is known.
"""

import html
import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gobetween.errors import GoBetweenError, StudyError
from gobetween.pages.words import moment
from gobetween.service.call import home_of, who_of
from gobetween.service.entry import Form, proof_of
from gobetween.service.guard import INBOX
from gobetween.service.inbox import Given, Inbox, Letterbox, inbox_of
from gobetween.service.page import framed
from gobetween.service.refusals import NotFoundError, status_of
from gobetween.study.transaction import Receipt

router = APIRouter(include_in_schema=False)
#: What can be done, in the words of an inbox.
FIXES = {
    "correct": "if that was wrong, say so below",
    "surprise": "tick the box if it is right all the same",
    "silent": "write to whoever leads the study",
}
OVER = "The study has ended: thank you."
NOTHING = "Nothing is waiting for you now. This page looks again each minute."
RESULTS = {0.0: "No (0)", 1.0: "Yes (1)"}


def _letterbox(request: Request) -> Letterbox:
    return inbox_of(home_of(request), who_of(request))


Own = Annotated[Letterbox, Depends(_letterbox)]
Number = Annotated[int | None, Query(ge=0, lt=2**62)]


@router.get("/inbox/{id}")
def look(request: Request, own: Own, done: Number = None, corrected: Number = None) -> HTMLResponse:
    """The inbox; after an answer, with what was recorded."""
    box = own.look()
    given = next((one for one in box.given if one.query in (done, corrected)), None)
    said = "" if given is None else _thanks(given, corrected is not None)
    return _page(request, box, said)


@router.post("/inbox/{id}/tell")
def tell(request: Request, own: Own, form: Form) -> Response:
    """An answer, from the form."""
    return _answered(request, own, form, "done", lambda number, said: own.tell(form.get("key"), number, **said))


@router.post("/inbox/{id}/correct")
def correct(request: Request, own: Own, form: Form) -> Response:
    """What is right instead, from the form."""
    reason = form.get("reason", "")
    return _answered(
        request, own, form, "corrected", lambda number, said: own.correct(form.get("key"), number, reason=reason, **said)
    )


def _answered(request: Request, own: Letterbox, form: Mapping[str, str], word: str, act: Any) -> Response:
    try:
        number = int(form.get("query", "")) if form.get("query", "").isdecimal() else -1
        receipt: Receipt = act(number, _said(form))
        return RedirectResponse(f"{INBOX}{who_of(request).id}?{word}={receipt.query}", 303)
    except NotFoundError:
        raise
    except GoBetweenError as error:
        surprise = error.fix is not None and error.fix.name == "surprise"
        words = error.sentence(fixes=_Fixes(FIXES))
        told = f'<p class="alarm" role="alert">{html.escape(words[:1].upper() + words[1:])}.</p>'
        return _page(request, own.look(), told, form, surprise, status_of(error))


class _Fixes(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "write to whoever leads the study"


def _said(form: Mapping[str, str]) -> dict[str, Any]:
    """An answer as people type it; a comma is a decimal point, too."""
    if form.get("silent"):
        return {"silent": True}
    text = form.get("reward", "").strip().replace(",", ".")
    if not form.get("arm"):
        raise StudyError("choose which option it was")
    try:
        reward = float(text)
    except ValueError:
        raise StudyError("write what came of it as a number") from None
    return {"arm": form["arm"], "reward": reward, "accept_surprise": form.get("accept_surprise") == "yes"}


def _thanks(given: Given, corrected: bool) -> str:
    what = "Thank you, that is corrected" if corrected else "Thank you, your answer is recorded"
    return f'<p class="done" role="status">{what}: query {given.query}, {html.escape(_words(given))}.</p>'


def _words(given: Given) -> str:
    return "could not be done" if given.arm is None else f"{given.arm}, {given.reward:g}"


def _page(
    request: Request, box: Inbox, said: str, typed: Mapping[str, str] | None = None, surprise: bool = False, status: int = 200
) -> HTMLResponse:
    typed = typed or {}
    at, proof = f"{INBOX}{who_of(request).id}", f'<input type="hidden" name="proof" value="{proof_of(request)}">'
    title = box.title or "Inbox"
    again = None if box.open or box.over else {"refresh": "60"}
    if box.open:
        more = len(box.open) - 1
        rest = f"<p class=soft>After this one {more:,} more {'is' if more == 1 else 'are'} waiting.</p>" if more else ""
        until = box.open[0].until
        lease = "" if until is None else f" Please answer by {html.escape(moment(until))}."
        ask = (
            f"<h2>Query {box.open[0].query}</h2><p>Please act once as you usually do, and say which option it was and what "
            f"came of it.{lease}</p>{_form(at, 'tell', box, box.open[0].query, proof, typed, surprise)}{rest}"
        )
    else:
        over = (
            "The study has ended: thank you."
            if box.over
            else "Nothing is waiting for you now. This page looks again each minute."
        )
        ask = f"<p>{over}</p>"
    given = "".join(_given(at, box, one, proof, typed) for one in box.given)
    past = f"<h2>Your last answers</h2><ul class=list>{given}</ul>" if given else ""
    body = f"<h1>{html.escape(title)}</h1><p>For {html.escape(box.mediator)}.</p>{said}{ask}{past}"
    return HTMLResponse(framed(title, body), status, again)


def _given(at: str, box: Inbox, one: Given, proof: str, typed: Mapping[str, str]) -> str:
    mine = typed if typed.get("query") == str(one.query) and "reason" in typed else {}
    form = _form(at, "correct", box, one.query, proof, mine, bool(mine))
    opened = " open" if mine else ""
    words = f"Query {one.query}: {html.escape(_words(one))}"
    return f"<li>{words}<details{opened}><summary>That was wrong</summary>{form}</details></li>"


def _form(at: str, verb: str, box: Inbox, number: int, proof: str, typed: Mapping[str, str], surprise: bool) -> str:
    """Which option, what came of it, or that it could not be done."""
    name, mine = f"{verb}-{number}", typed if typed.get("query") == str(number) else {}
    arms = "".join(
        f'<label class="choice"><input type="radio" name="arm" value="{html.escape(arm)}" required'
        f"{' checked' if mine.get('arm') == arm else ''}> {html.escape(arm)}</label>"
        for arm in box.arms
    )
    if box.choices:
        rewards = "".join(
            f'<label class="choice"><input type="radio" name="reward" value="{value:g}" required'
            f"{' checked' if mine.get('reward') == f'{value:g}' else ''}> {RESULTS[value]}</label>"
            for value in sorted(box.choices, reverse=True)
        )
        result = f"<fieldset><legend>Did it work?</legend>{rewards}</fieldset>"
    else:
        result = (
            f'<p><label for="{name}-reward">What came of it? <span class=soft>({html.escape(box.rewards)})</span></label>'
            f'<input id="{name}-reward" name="reward" inputmode="decimal" autocomplete="off" required '
            f'value="{html.escape(mine.get("reward", ""))}"></p>'
        )
    tick = '<input type="checkbox" name="accept_surprise" value="yes"> It is right all the same'
    sure = f'<p><label class="choice">{tick}</label></p>' if surprise else ""
    reason = (
        f'<p><label for="{name}-reason">What was wrong?</label>'
        f'<input id="{name}-reason" name="reason" required maxlength="1000" value="{html.escape(mine.get("reason", ""))}"></p>'
        if verb == "correct"
        else ""
    )
    could_not = '<button name="silent" value="yes" formnovalidate class="other">I could not</button>' if box.silent else ""
    hidden = f'{proof}<input type="hidden" name="query" value="{number}">'
    hidden += f'<input type="hidden" name="key" value="{secrets.token_hex(8)}">'
    return (
        f'<form method="post" action="{at}/{verb}">{hidden}'
        f"<fieldset><legend>Which option was it?</legend>{arms}</fieldset>{result}{sure}{reason}"
        f"<p class=buttons><button>{'Correct it' if reason else 'Send the answer'}</button> "
        f"{could_not}</p></form>"
    )
