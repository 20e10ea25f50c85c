import json
from typing import Any

import numpy as np
import pytest

import gobetween as gb

MEDIATORS: dict[str, Any] = {"x": [0.5, 0.5, 0.0], "y": [0.1, 0.1, 0.8], "z": None}


def learner(**changes: Any) -> gb.Learner:
    options: dict[str, Any] = {"family": gb.Bernoulli(), "delta": 0.1} | changes
    return gb.Learner(["a", "b", "c"], MEDIATORS, **options)


def picture(one: gb.Learner) -> str:
    return json.dumps(one.to_dict(), sort_keys=True)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"arm": "d", "reward": 1}, "arm 'd' is not known: choose one of 'a', 'b', 'c'"),
        ({"arm": "a", "reward": 0.5}, "a bernoulli reward is 0 or 1"),
        ({"arm": "a", "reward": float("nan")}, "a bernoulli reward is 0 or 1"),
        ({"arm": "a"}, "an answer needs arm and reward"),
        ({"arm": "a", "reward": 1, "silent": True}, "leave out arm and reward"),
        ({"arm": "a", "reward": 1, "mediator": "nobody"}, "was for mediator"),
    ],
)
def test_bad_answers_change_nothing(answer: dict[str, Any], message: str) -> None:
    one = learner()
    query = one.ask()
    before = picture(one)
    with pytest.raises(gb.ProblemError, match=message):
        one.tell(query, **answer)
    assert picture(one) == before


def test_a_query_is_answered_once() -> None:
    one = learner()
    query = one.ask(available=["x"])
    one.tell(query, arm="a", reward=1)
    before = picture(one)
    with pytest.raises(gb.TellError, match="query 0 has already been answered or cancelled"):
        one.tell(query, arm="a", reward=1)
    with pytest.raises(gb.TellError, match="query 0 has already been answered or cancelled"):
        one.cancel(query)
    with pytest.raises(gb.TellError, match="query 7 was never asked"):
        one.tell(7, arm="a", reward=1)
    with pytest.raises(gb.TellError, match="name the query"):
        one.tell(arm="a", reward=1)
    assert picture(one) == before


def test_surprises_must_be_accepted() -> None:
    one = learner()
    query = one.ask(available=["x"])
    with pytest.raises(gb.TellError, match="mediator 'x' was declared never to pull 'c'"):
        one.tell(query, arm="c", reward=1)
    one.tell(query, arm="c", reward=1, accept_surprise=True)
    other = one.ask(available=["z"])  # an unknown policy surprises nobody
    one.tell(other, arm="c", reward=0)
    assert one.progress.arms[2].pulls == 2


def test_the_verdict_counts_the_resolved_prefix() -> None:
    one = learner()
    first, second, third = one.ask(3)
    one.tell(third, arm="a" if third.mediator != "y" else "c", reward=1)
    one.tell(second, silent=True)
    progress = one.progress
    assert (progress.counted, progress.told, progress.pending) == (0, 2, 1)
    assert progress.waiting_for == first
    one.cancel(first)
    assert (one.progress.counted, one.progress.waiting_for) == (2, None)
    eager = learner(order="arrival")
    queries = eager.ask(3)
    eager.tell(queries[2], silent=True)
    assert eager.progress.counted == 1


def test_an_answer_that_waits_can_be_corrected_taken_out_and_moved() -> None:
    """What is counted once the answer before it has come is what would have been if it had been told so at first."""

    def told(corrected: bool, how: str) -> dict[str, Any]:
        one = learner()
        first, second = one.ask(2, available=["x"])
        wrong: tuple[str, float] = ("a", 1.0)
        right: tuple[str, float] | None = None if how == "silent" else ("b", 0.0)
        if corrected:
            one.tell(second, arm="a", reward=1)
            if how == "void":
                one.void(second.id, "x", wrong)
            elif how == "move":
                one.move(second.id, "x", "z", wrong)
            else:
                one.correct(second.id, "x", wrong, right)
        elif how in ("void", "move"):
            one.cancel(second)
        elif right is None:
            one.tell(second, silent=True)
        else:
            one.tell(second, arm=right[0], reward=right[1])
        assert one.progress.counted == 0
        one.tell(first, arm="b", reward=1)
        if how == "move" and not corrected:
            one.tell(mediator="z", arm="a", reward=1)
        progress = one.progress
        return {"counted": progress.counted, "arms": progress.arms, "statistic": progress.statistic}

    for how in ("arm", "silent", "void", "move"):
        assert told(True, how) == told(False, how), how


def test_unasked_answers_and_absent_mediators() -> None:
    one = learner()
    one.tell(mediator="y", arm="c", reward=1)
    assert one.progress.told == 1
    assert {one.ask(available=["y", "z"]).mediator for _ in range(20)} <= {"y", "z"}
    with pytest.raises(gb.ProblemError, match="mediator 'w' is not known"):
        one.ask(available=["w"])
    before = picture(one)
    with pytest.raises(gb.ProblemError, match="no mediator that may be asked is available"):
        one.ask(available=[])
    assert picture(one) == before


def test_pending_queries_count_for_tracking() -> None:
    assert {query.mediator for query in learner(sampling="tracking").ask(3)} == {"x", "y", "z"}


def play(one: gb.Learner, steps: int, seed: int) -> list[str]:
    """Answer with chance; returns who was asked."""
    rng = np.random.default_rng(seed)
    asked = []
    for _ in range(steps):
        query = one.ask(go_on=True)
        asked.append(query.mediator)
        row = MEDIATORS[query.mediator] or [0.3, 0.3, 0.4]
        a = int(rng.choice(3, p=row))
        one.tell(query, arm="abc"[a], reward=int(rng.random() < (0.9, 0.3, 0.2)[a]))
    return asked


@pytest.mark.parametrize("sampling", [gb.Pursuit(), gb.Tracking(), gb.Tracking(tracking="D"), gb.UniformSampling()], ids=repr)
def test_a_resumed_learner_asks_what_the_other_would_have(sampling: gb.Tracking) -> None:
    one = learner(sampling=sampling, seed=4)
    play(one, 60, 1)
    one.ask(2, go_on=True)
    other = gb.Learner.from_dict(json.loads(picture(one)))
    assert picture(other) == picture(one)
    assert other.pending == one.pending
    assert play(one, 60, 2) == play(other, 60, 2)
    assert picture(other) == picture(one)


def test_it_stops_names_the_best_and_then_refuses() -> None:
    one = learner()
    assert one.recommendation is None
    play(one, 400, 3)
    assert one.done
    assert one.recommendation == "a"
    with pytest.raises(gb.ProblemError, match="the answer is 'a'"):
        one.ask()
    told = one.progress.told
    one.tell(one.ask(go_on=True), silent=True)
    assert one.progress.told == told + 1
    progress = one.progress
    assert progress.p_value <= 0.1
    assert progress.queries_to_go == 0.0
    assert sum(progress.shares.values()) == pytest.approx(1.0)
    for report, mean in zip(progress.arms, (0.9, 0.3, 0.2), strict=True):
        assert report.low <= mean <= report.high
        assert report.estimate is not None
        assert report.low <= report.estimate <= report.high


@pytest.mark.parametrize(
    "family",
    [
        *(gb.Gaussian(2.0), gb.Bernoulli(), gb.Poisson(), gb.Exponential(), gb.Bounded(0.0, 2.0)),
        *(gb.Gamma(2.0), gb.Binomial(3), gb.Geometric(), gb.NegativeBinomial(1.5)),
    ],
    ids=lambda f: f.name,
)
def test_confidence_sequences_cover(family: gb.Family) -> None:
    from gobetween.core.ground.tally import Tally
    from gobetween.core.verdict.evidence_report import arm_reports

    rng, mean = np.random.default_rng(2), 1.7 if family.name == "geometric" else 0.7
    for n in (1, 3, 30, 300):
        S = sum(family.draw(mean, rng) for _ in range(n))
        counts = np.array([n, 1])
        (report,) = arm_reports(family, ["a"], Tally(counts, np.array([S, 0.0]), np.array([S / n, 0.0])), 0.01, [0])
        assert report.low <= mean <= report.high
        assert report.low <= S / n <= report.high
    assert report.high - report.low < 2.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((["a"]), 2), "at least two arms"),
        (((3), 0), "at least one mediator"),
        (((3), {}), "at least one mediator"),
        (((3), {"x": [0.5, 0.5]}), "the policy of mediator 'x' needs 3 probabilities"),
        (((3), {"x": [0.5, 0.5, 0.5]}), "sums to 1.5"),
    ],
)
def test_bad_learners(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(gb.ProblemError, match=message):
        gb.Learner(*arguments)
    with pytest.raises(gb.ProblemError, match="seed = -1"):
        gb.Learner(2, 2, seed=-1)
    with pytest.raises(gb.ProblemError, match="'bernouli' is not a known family: did you mean bernoulli"):
        gb.Learner(2, 2, family="bernouli")
    with pytest.raises(gb.ProblemError, match="order = 'random'"):
        gb.Learner(2, 2, order="random")
    with pytest.raises(gb.ProblemError, match="sampling = Oracle"):
        gb.Learner(2, 2, sampling=gb.Oracle())
    with pytest.raises(gb.ProblemError, match="prune=True needs the policy of every mediator"):
        gb.Learner(2, 2, sampling=gb.Tracking(prune=True))


def test_a_cancelled_query_is_given_back() -> None:
    """It is no query: whoever it went to is asked again as if it had not been, and nothing was spent."""
    one, other = learner(seed=1), learner(seed=1)
    for _ in range(4):
        gone = one.ask()
        one.cancel(gone)
    assert list(one.queries) == [0, 0, 0]
    assert sum(one.progress.shares.values()) == 0.0
    assert one.progress.pending == 0
    query = one.ask()
    assert sum(one.queries) == 1
    assert one.queries[one.mediators.index(query.mediator)] == 1
    kept = other.ask(3)
    before = dict(zip(other.mediators, other.queries, strict=True))
    other.cancel(kept[1])
    gone_to = kept[1].mediator
    assert dict(zip(other.mediators, other.queries, strict=True)) == before | {gone_to: before[gone_to] - 1}


@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_queries_to_go_are_queries_in_whatever_coin_they_are_paid(scale: float) -> None:
    def after(costs: list[float]) -> gb.Learner:
        one = learner(costs=costs)
        play(one, 12, 1)
        one.ask(go_on=True)
        assert not one.done
        return one

    cheap, dear = after([1.0, 3.0, 2.0]), after([scale, 3.0 * scale, 2.0 * scale])
    assert 0.0 < cheap.progress.queries_to_go < np.inf
    assert dear.progress.queries_to_go == pytest.approx(cheap.progress.queries_to_go, rel=1e-6)


def test_what_was_collected_before_tells_how_mediators_choose() -> None:
    """Undeclared policies after `absorb` are as good as declared ones: the same shares are followed at once."""
    counts, sums = np.array([[40, 40, 20], [5, 5, 90], [30, 60, 10]]), np.array([70.0, 50.0, 20.0])
    policies = ((counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 1.5)).tolist()
    options: dict[str, Any] = {"family": gb.Bernoulli(), "delta": 1e-9}
    told = gb.Learner(["a", "b", "c"], dict(zip("xyz", policies, strict=True)), **options)
    untold = gb.Learner(["a", "b", "c"], dict.fromkeys("xyz"), **options)
    for one in (told, untold):
        one.absorb(counts, sums)
    assert untold.progress.target == pytest.approx(told.progress.target, abs=1e-9)
    assert max(untold.progress.target.values()) > 0.5
    assert untold.progress.queries_to_go == pytest.approx(told.progress.queries_to_go, rel=1e-9)
