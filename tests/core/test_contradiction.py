"""Answers that were certain, and what contradicts them later: for every question, learner and log alike."""

import json
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.alarm.contradiction import Claim, least_beyond, opposition
from gobetween.core.ground.tally import fill, new_tally
from gobetween.core.question.questions import TopM
from gobetween.core.reward.family import log_mixture
from gobetween.core.verdict.missing_answers import worst_answer

#: A question with means at first and later, between which its answer is turned round, and what is said then.
TURNED: list[tuple[gb.Question, list[float], list[float], str]] = [
    (gb.TopM(2), [0.9, 0.8, 0.1], [0.9, 0.1, 0.95], "'c' is certain to be better than 'b' after "),
    (gb.EpsilonBest(0.1), [0.8, 0.3, 0.2], [0.05, 0.95, 0.2], "'b' is certain to be better than 'a' by more than 0.1 after "),
    (gb.Threshold(0.5), [0.9, 0.1, 0.1], [0.05, 0.1, 0.1], "the mean of 'a' is certain to lie below 0.5 after "),
]
SAID = {
    "top-m": "the best 2 arms are 'a' and 'b'",
    "epsilon-best": "no arm is better than 'a' by more than 0.1",
    "threshold": "the only arm with a mean above 0.5 is 'a'",
}


def rewards_of(first: list[float], later: list[float]) -> list[tuple[str, int]]:
    """Rows of three arms in turn, with means that change."""
    rng = np.random.default_rng(4)
    means = [first] * 50 + [later] * 110
    return [("abc"[a], int(rng.random() < row[a])) for row in means for a in range(3)]


@pytest.mark.plain
@pytest.mark.parametrize(("question", "first", "later", "words"), TURNED, ids=lambda value: getattr(value, "name", ""))
def test_learner_and_log_say_it_alike(question: gb.Question, first: list[float], later: list[float], words: str) -> None:
    rows = rewards_of(first, later)
    one = gb.Learner(["a", "b", "c"], {"m": None}, family="bernoulli", delta=0.05, question=question)
    for arm, reward in rows[:150]:
        one.tell(mediator="m", arm=arm, reward=reward)
    assert one.done
    (quiet,) = [alarm for alarm in one.account().alarms if alarm.kind == "contradiction"]
    assert not quiet.raised
    assert quiet.words.startswith("Nothing contradicts that it was certain after ")
    assert quiet.words.endswith(f" answers that {SAID[question.name]}.")
    claim = one.state.decision.claim
    assert claim is not None
    assert not (claim.log_e >= np.log(question.opposite_ways(3) / 0.05))
    for arm, reward in rows[150:]:
        one.tell(mediator="m", arm=arm, reward=reward)
    (alarm,) = [alarm for alarm in one.account().alarms if alarm.kind == "contradiction"]
    assert alarm.raised
    assert alarm.breaks
    assert alarm.words.startswith(words[:1].upper() + words[1:])
    assert f" answers that {SAID[question.name]}: " in alarm.words
    again = gb.Learner.from_dict(json.loads(json.dumps(one.to_dict())))
    assert [found for found in again.account().alarms if found.kind == "contradiction"] == [alarm]
    log: dict[str, Any] = {"mediator": ["m"] * len(rows), "arm": [a for a, _ in rows], "reward": [x for _, x in rows]}
    report = gb.analyse_logs(log, question=question)
    (found,) = [found for found in report.alarms if found.kind == "contradiction"]
    assert found.raised
    assert words.split(" after")[0] in found.words[:1].lower() + found.words[1:]
    assert (
        report.headline.startswith("No recommendation, because an assumption is violated: ")
        if hasattr(report, "headline")
        else True
    )


@pytest.mark.plain
def test_the_strongest_evidence_against_a_claim_is_kept() -> None:
    """Later answers that agree with it again take nothing from what has spoken against it."""
    claim = Claim.of(gb.BestArm(), (0,), 20)
    strong, weak = (fill(new_tally(2), np.array([60, 60]), np.array([5.0, n])) for n in (50.0, 20.0))
    against = claim.seen(gb.BestArm(), gb.Bernoulli(), strong, 120)
    assert against.log_e > 10.0
    assert (against.rival, against.at) == (1, 120)
    found = opposition(gb.BestArm(), gb.Bernoulli(), weak, (0,))
    assert found is not None
    assert 0.0 < found[0] < against.log_e
    assert against.seen(gb.BestArm(), gb.Bernoulli(), weak, 130) == against


@pytest.mark.parametrize("family", [gb.Bernoulli(), gb.Gaussian(1.0)], ids=str)
def test_evidence_beyond_eps_is_the_least_over_the_half_plane(family: gb.Family) -> None:
    tally = fill(new_tally(2), np.array([60, 80]), np.array([9.0, 62.0]))
    eps = 0.2
    found = least_beyond(family, tally, 1, 0, eps)

    def at(lam_b: float, lam_i: float) -> float:
        up, down = log_mixture(family, 80.0, 62.0, lam_b, 1.0)[0], log_mixture(family, 60.0, 9.0, lam_i, -1.0)[0]
        return float(up + down)

    places = np.linspace(0.01, 0.99, 99)
    brute = min(at(x, y) for x in places for y in places if x <= y + eps + 1e-12)
    assert found <= brute + 1e-9
    assert found == pytest.approx(min(brute, *(at(x, x - eps) for x in np.linspace(0.36, 0.77, 400))), abs=1e-3)
    assert found > 1.0


@pytest.mark.parametrize("question", [gb.BestArm(), gb.TopM(2), gb.EpsilonBest(0.1), gb.Threshold(0.5)], ids=str)
def test_missing_answers_at_their_worst(question: gb.Question) -> None:
    """No completion of two missing answers leaves less evidence."""
    N, S = np.array([70, 80, 60]), np.array([60.0, 30.0, 6.0])
    answer = {"best-arm": (0,), "top-m": (0, 1), "epsilon-best": (0,), "threshold": (0,)}[question.name]
    reach, none = np.array([[True, True, False], [False, True, True]]), np.zeros(2, np.int64)

    def evidence(counts: Any, sums: Any, missing: Any) -> float:
        value = worst_answer(question, gb.Bernoulli(), fill(new_tally(3), counts, sums), answer, missing, reach)
        assert value is not None
        return value

    found = evidence(N, S, np.array([1, 1]))
    outcomes = [(None, 0.0), *((a, x) for a in range(3) for x in (0.0, 1.0))]
    least = np.inf
    for one in outcomes:
        for other in outcomes:
            if (one[0] is not None and not reach[0, one[0]]) or (other[0] is not None and not reach[1, other[0]]):
                continue
            counts, sums = N.copy(), S.copy()
            for a, x in (one, other):
                if a is not None:
                    counts[a], sums[a] = counts[a] + 1, sums[a] + x
            least = min(least, evidence(counts, sums, none))
    assert found <= least + 1e-9
    assert found == pytest.approx(least, abs=1.5)
    assert found < evidence(N, S, none)


@pytest.mark.parametrize("rival", [2, 0, -1])
@pytest.mark.parametrize("answer", [None, (0, 2)])
def test_all_that_a_claim_names_goes_with_its_arms_to_other_places(rival: int, answer: tuple[int, ...] | None) -> None:
    places = [3, 0, 1]
    found = Claim(0, 40, rival, 50, 7.0, answer).placed(places)
    assert (found.arm, found.rival, found.named) == (3, {2: 1, 0: 3, -1: -1}[rival], (3,) if answer is None else (1, 3))
    assert (found.since, found.at, found.log_e) == (40, 50, 7.0)


def test_eps_is_refused_where_a_mean_is_no_coordinate() -> None:
    for family in (gb.Gamma(2.0), gb.Exponential(), gb.Geometric(), gb.NegativeBinomial(1.5), gb.NegativeBinomial(1.0 / 12.0)):
        with pytest.raises(gb.ProblemError, match=f"epsilon-best is not offered for {family.name} rewards"):
            gb.EpsilonBest(0.1).check(3, family)


def test_of_a_question_without_a_proof_nothing_is_said() -> None:
    class Lowest(gb.Question):
        """One more question, of which only what it must say is known."""

        def ways(self, K: int) -> int:
            return K

    tally, nobody = fill(new_tally(3), np.array([90, 90, 90]), np.array([5.0, 80.0, 5.0])), np.zeros(1, np.int64)
    reach = np.ones((1, 3), np.bool_)
    assert opposition(TopM(1), gb.Bernoulli(), tally, (0,)) is not None
    assert worst_answer(TopM(1), gb.Bernoulli(), tally, (1,), nobody, reach) is not None
    assert opposition(Lowest(), gb.Bernoulli(), tally, (0,)) is None
    assert worst_answer(Lowest(), gb.Bernoulli(), tally, (1,), nobody, reach) is None
