"""Clocks that jump: every lease ends all the same, and the log says what happened."""

from collections.abc import Callable

import pytest
from study_parts import Clock

from gobetween.study.study import Study
from gobetween.words.events import event_words

HOUR, YEAR = 3600.0, 365 * 86400.0
NOW, FAR = 1.79e9, 4.07e9  # 2026 and 2099


def said(study: Study) -> list[str]:
    return [event_words(event) for event in study.events() if event["kind"] == "clock"]


@pytest.fixture(autouse=True)
def today(clock: Clock) -> None:
    clock.now = NOW


@pytest.mark.parametrize("in_flight", [None, 2])
def test_2099_and_back_leaves_no_lease_that_does_not_end(
    new: Callable[..., Study], clock: Clock, in_flight: int | None
) -> None:
    study = new() if in_flight is None else new(in_flight=in_flight)
    study.ask()
    clock.now = FAR
    asked = study.ask(worker="w")  # ends the leases of today, and gives new ones
    assert asked[0].until == FAR + HOUR
    clock.now = NOW + 10
    study.ask(worker="v")
    assert any("the clock went back by 26,389 days" in line for line in said(study))
    assert all(query.until is not None and query.until <= clock.now + HOUR for query in study.pending())
    assert all(query.asked <= clock.now for query in study.pending())
    open_then = [query.id for query in study.pending()]
    clock.now += HOUR + 1
    study.ask(worker="u")
    assert not set(open_then) & {query.id for query in study.pending()}
    assert len([line for line in said(study) if "went back" in line]) == 1
    assert study.doctor() == []


def test_a_command_that_has_nothing_to_do_notices_too(new: Callable[..., Study], clock: Clock) -> None:
    study = new(in_flight=1)
    clock.now = FAR
    (query,) = study.ask(worker="w")
    clock.now = NOW
    assert [again.id for again in study.ask(worker="w")] == [query.id]
    assert len(said(study)) == 1
    clock.now = NOW + HOUR
    assert study.ask(worker="w")[0].id != query.id
    assert study.doctor() == []


def test_tells_say_it_too_and_can_be_repeated(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    clock.now = FAR
    first, second = study.ask(2)
    clock.now = NOW
    receipt = study.tell(first, arm="a", reward=1, accept_surprise=True, key="k")
    assert study.tell(first, arm="a", reward=1, accept_surprise=True, key="k").query == receipt.query == first.id
    assert len(said(study)) == 1
    (waiting,) = study.pending()
    assert (waiting.id, waiting.until) == (second.id, NOW + HOUR)
    assert study.doctor() == []


def test_a_year_of_rest_ends_leases_and_is_said(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    (query,) = study.ask()
    clock.now += YEAR
    (again,) = study.ask()
    assert again.reissue_of == query.id
    assert said(study) == ["nothing was recorded for 365 days, or the clock went forward: leases that ran out have ended"]
    clock.now += HOUR
    assert study.ask()[0].reissue_of == again.id
    assert study.doctor() == []


def test_small_steps_are_not_said_until_they_add_up(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    study.ask()
    for _ in range(3):
        clock.now -= 25.0
        study.ask()
    (line,) = said(study)
    assert (
        line == "the clock went back by 75 seconds: open leases end as if they began now; some may have ended too early before"
    )
    clock.now += HOUR
    study.ask()
    assert len(study.pending()) == 1
    assert study.doctor() == []
