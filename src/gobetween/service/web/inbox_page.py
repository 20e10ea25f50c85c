"""A mediator's inbox as a page: the open query in plain words, a form, what was answered, and a way to say that it was wrong.

It works without a script. A form leads to another address, so that a reload sends nothing, and the same answer again is known.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gobetween.errors import GoBetweenError, StudyError
from gobetween.service.errors import NotFoundError, status_of
from gobetween.service.guard import INBOX
from gobetween.service.inbox import GivenAnswer, Inbox, MediatorInbox, inbox_of
from gobetween.service.request import studies_of, who_of
from gobetween.service.threads import WriterRoute
from gobetween.service.web.layout import page
from gobetween.service.web.login import Form, proof_of
from gobetween.study.commands.verbs import Correct, Tell
from gobetween.words import fixes
from gobetween.words.events import result_words
from gobetween.words.numbers import due_words

router = APIRouter(include_in_schema=False, route_class=WriterRoute)
BLANK = dict.fromkeys(("query", "arm", "reward", "reason"), "")  # a form that nobody has filled in


def _inbox_of(request: Request) -> MediatorInbox:
    return inbox_of(studies_of(request), who_of(request))


Own = Annotated[MediatorInbox, Depends(_inbox_of)]
Number = Annotated[int | None, Query(ge=0, lt=2**62)]


@router.get("/inbox/{id}")
def look(request: Request, own: Own, done: Number = None, corrected: Number = None) -> HTMLResponse:
    """The inbox; after an answer, with what was recorded."""
    box = own.look()
    given = next((one for one in box.given if one.query in (done, corrected)), None)
    return _page(request, box, "" if given is None else _thanks(given, _said_of(box)(given), corrected is not None))


@router.post("/inbox/{id}/tell")
def tell(request: Request, own: Own, form: Form) -> Response:
    """An answer, from the form."""
    return _answered(request, own, form, "done", lambda said: Tell(**said))


@router.post("/inbox/{id}/correct")
def correct(request: Request, own: Own, form: Form) -> Response:
    """What is right instead, from the form."""
    return _answered(request, own, form, "corrected", lambda said: Correct(**said, reason=form.get("reason", "")))


def _answered(
    request: Request, own: MediatorInbox, form: Mapping[str, str], word: str, verb: Callable[[dict[str, Any]], Tell | Correct]
) -> Response:
    try:
        receipt = own.study.run(own.command(verb(_said(form))))
        return RedirectResponse(f"{INBOX}{who_of(request).id}?{word}={receipt.query}", 303)
    except NotFoundError:
        raise
    except GoBetweenError as error:
        surprise = error.fix is not None and error.fix.name == "surprise"
        words = error.sentence(fixes=fixes.INBOX)
        return _page(request, own.look(), "", f"{words[:1].upper()}{words[1:]}.", form, surprise, status_of(error))


def _said(form: Mapping[str, str]) -> dict[str, Any]:
    """An answer as people type it; a comma is a decimal point, too."""
    number = form.get("query", "")
    about = {"query": int(number) if number.isdecimal() else -1, "key": form.get("key") or None}
    if form.get("silent"):
        return about | {"silent": True}
    text = form.get("reward", "").strip().replace(",", ".")
    if not form.get("arm"):
        raise StudyError("choose which option it was")
    try:
        reward = float(text)
    except ValueError:
        raise StudyError("write what happened as a number") from None
    return about | {"arm": form["arm"], "reward": reward, "accept_surprise": form.get("accept_surprise") == "yes"}


def _thanks(given: GivenAnswer, words: str, corrected: bool) -> str:
    what = "Thank you, that is corrected" if corrected else "Thank you, your answer is recorded"
    return f"{what}: query {given.query}, {words}."


def _said_of(box: Inbox) -> Callable[[GivenAnswer], str]:
    """An answer in the words of the study."""
    result = result_words(box.choices, box.yes, box.no)
    return lambda given: "could not be done" if given.reward is None else f"{given.arm}, {result(given.reward)}"


def _page(
    request: Request, box: Inbox, thanks: str = "", wrong: str = "", typed: Mapping[str, str] | None = None,
    surprise: bool = False, status: int = 200,
) -> HTMLResponse:  # fmt: skip
    result = result_words(box.choices, box.yes, box.no)
    choices = [(f"{value:g}", result(value)) for value in sorted(box.choices, reverse=True)]
    until = box.open[0].until if box.open else None
    due = "" if until is None else due_words(until - box.now)
    values = {"thanks": thanks, "wrong": wrong, "surprise": surprise, "said": _said_of(box), "due": due}
    values |= {"typed": BLANK | dict(typed or {}), "blank": BLANK, "correcting": "reason" in (typed or {})}
    values |= {"at": f"{INBOX}{who_of(request).id}", "proof": proof_of(request), "key": secrets.token_hex(8)}
    again = None if box.open or box.over else {"refresh": "60"}
    shown = vars(box) | {"choices": choices}
    return page("inbox.html", box.title or "Inbox", {"box": shown, "width": "phone", **values}, status, again)
