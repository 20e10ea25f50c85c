"""A live learner: ask, tell, cancel, in any order and with any number of queries open. The same step as the engine's."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.bound import binary_kl
from gobetween.core.evidence import arm_report, least_log_evalue
from gobetween.core.families import FAMILIES, Family, Gaussian, is_number
from gobetween.core.problem import check_costs, check_names, check_policy
from gobetween.core.sampling import Sampling, Static, Tracking, UniformSampling, choose, estimate, new_sampler, refresh
from gobetween.core.state import Tally, count, fill, new_state, new_tally
from gobetween.core.step import observe, verdict
from gobetween.core.stopping import EProcess, Stopping, constant, glr, growth, new_stopper
from gobetween.core.types import Bools, Floats
from gobetween.errors import ProblemError
from gobetween.files.rules import rule_from_dict, rule_to_dict
from gobetween.study.progress import Progress, Query


class TellError(ProblemError):
    """An answer that cannot be taken; nothing has changed."""


class Learner:
    """Finds the best arm by asking mediators; see `ask`, `tell`, `cancel`, `done`, `recommendation`, `progress`.

    arms: names, or how many. mediators: a mapping from names to a policy (None when it is not known), a matrix of policies, or
    how many (all unknown). The verdict counts the resolved prefix of the queries in the order in which they were issued, which
    keeps the guarantee even when bad news travels slower (docs/stopping.md, Delays). order="arrival" counts answers as they
    come: it stops earlier, and is valid only if delays do not depend on rewards.
    """

    def __init__(
        self,
        arms: int | Sequence[str],
        mediators: int | Mapping[str, ArrayLike | None] | ArrayLike,
        *,
        family: Family = Gaussian(1.0),  # noqa: B008 - an immutable tuple
        delta: float = 0.05,
        costs: ArrayLike | None = None,
        sampling: Sampling = Tracking(),  # noqa: B008 - an immutable value
        stopping: Stopping = EProcess(),  # noqa: B008 - an immutable value
        seed: int = 0,
        silent: bool = False,
        order: str = "issue",
    ) -> None:
        if not isinstance(sampling, (Tracking, UniformSampling, Static)):
            raise ProblemError(
                f"sampling = {sampling!r}: a live learner cannot use it; choose Tracking(), UniformSampling() or Static()"
            )
        if order not in ("issue", "arrival"):
            raise ProblemError(f"order = {order!r}: choose 'issue' or 'arrival'")
        if type(family) is Family or Family not in type(family).__mro__:
            raise ProblemError(f"family must be one such as gb.Gaussian(1.0) or gb.Bernoulli(), not {family!r}")
        if not (is_number(seed) and seed == int(seed) and seed >= 0):
            raise ProblemError(f"seed = {seed!r}: must be a whole number, 0 or more")
        binary_kl(delta)
        K = arms if isinstance(arms, int) else len(tuple(arms))
        if K < 2:
            raise ProblemError(f"a learner needs at least two arms, not {K}")
        self.arms = check_names(None if isinstance(arms, int) else arms, K, "arm")
        self.mediators, policies = _mediators(mediators, self.arms, silent)
        declared: Bools = np.logical_not(np.isnan(policies).any(axis=1))
        self.family, self.delta, self.sampling, self.stopping = family, float(delta), sampling, stopping
        self.order, self.silent, self.seed = order, silent, seed
        self.costs = np.ones(len(self.mediators)) if costs is None else check_costs(costs, self.mediators)
        self._declared, self._policies = declared, np.where(declared[:, None], policies, 0.0)
        self._sampler = new_sampler(sampling, self._policies, declared, self.costs)
        self._stopper = new_stopper(stopping, family)
        self._constant = np.array([constant(stopping, K, delta, family)])
        self._state, self._counted = new_state(K, len(self.mediators)), new_tally(K)
        self._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
        self._asked = self._count = self._issued = self._next = 0
        self._open: dict[int, int] = {}
        self._resolved: dict[int, tuple[int, float] | None] = {}
        self._named: int | None = None
        self._verdict: dict[str, float] | None = None
        self._exact: tuple[list[list[float]], list[list[float]]] = ([[] for _ in range(K)], [[] for _ in range(K)])

    def ask(self, n: int | None = None, *, available: Iterable[str] | None = None, go_on: bool = False) -> Any:
        """The next query, or a list of n; `available` restricts to mediators that can be asked now.

        Refuses once the learner is done, unless go_on=True.
        """
        if self.done and not go_on:
            raise ProblemError(f"the answer is {self.recommendation!r}: nothing more to ask (go_on=True asks all the same)")
        free = self._free(available)
        if not free[self._sampler.members].any():
            raise ProblemError("no mediator that may be asked is available")
        if n is None:
            return self._ask(free)
        if n < 1:
            raise ProblemError(f"n = {n}: ask for at least one query")
        return [self._ask(free) for _ in range(n)]

    def asked(self, mediator: str, available: Iterable[str] | None = None) -> str:
        """Take note of a query that was issued to a mediator; returns whom the rule would have asked.

        For replaying a record: what was asked is a fact, and everything else goes on as after `ask`.
        """
        e = self._index(mediator, self.mediators, "mediator")
        return self._issue(self._free(available), e)

    def _free(self, available: Iterable[str] | None) -> Bools:
        free = np.ones(len(self.mediators), np.bool_)
        if available is not None:
            free[:] = False
            for name in available:
                free[self._index(name, self.mediators, "mediator")] = True
        return free

    def _ask(self, free: Bools) -> Query:
        name = self._issue(free, None)
        return Query(self._issued - 1, name)

    def _issue(self, free: Bools, fact: int | None) -> str:
        chosen = int(choose(self.family, self._sampler, self._state, self._asked, free, self._rng))
        e = chosen if fact is None else fact
        self._state.N_e[e] += 1
        self._asked += 1
        self._open[self._issued] = e
        self._issued += 1
        return self.mediators[chosen]

    def tell(
        self,
        query: Query | int | None = None,
        *,
        arm: str | None = None,
        reward: float | None = None,
        mediator: str | None = None,
        silent: bool = False,
        accept_surprise: bool = False,
    ) -> None:
        """Record an answer: the arm that was pulled and its reward, or silent=True. Without a query, name the mediator.

        Bad answers raise and change nothing: unknown names, impossible rewards, a query told twice, an arm that the declared
        policy never pulls (accept_surprise=True records it all the same).
        """
        if query is None and mediator is None:
            raise TellError("name the query that is answered, or the mediator who answered unasked")
        e = self._index(mediator, self.mediators, "mediator") if query is None else self._mediator_of(query, mediator)
        a, x = self._answer(e, arm, reward, silent, accept_surprise)
        if query is None:
            number = self._issued
            self._issued += 1
            self._asked += 1
            self._state.N_e[e] += 1
        else:
            number = query.id if isinstance(query, Query) else query
            del self._open[number]
        observe(self._sampler, self._state, e, a, x)
        if a < len(self.arms):
            add_exactly(self._exact[0][a], x)
        self._resolve(number, (a, x))

    def cancel(self, query: Query | int) -> None:
        """Withdraw an open query; it counts for nothing.

        Why must not depend on its reward, nor on answers to later queries: use a rule fixed beforehand, such as a timeout.
        """
        e = self._mediator_of(query, None)
        number = query.id if isinstance(query, Query) else query
        del self._open[number]
        self._state.N_e[e] -= 1
        self._resolve(number, None)

    def absorb(self, N_ea: ArrayLike, S_a: ArrayLike) -> None:
        """Count what was collected before: answers [E, K] of each mediator and sums [K] of each arm's rewards.

        They inform estimates and verdict, but are not queries of this learner. Only before the first query.
        """
        if self._issued:
            raise ProblemError("what was collected before must be counted before the first query")
        counts, sums = np.asarray(N_ea, dtype=np.int64), np.asarray(S_a, dtype=np.float64)
        self._state.N_ea[:, :-1] += counts
        for tally in (self._state.tally, self._counted):
            fill(tally, tally.N_a + counts.sum(axis=0), tally.S_a + sums)
        for exact in self._exact:
            for a, total in enumerate(sums.tolist()):
                add_exactly(exact[a], total)
        self._count += int(counts.sum())
        for e in np.flatnonzero(counts.sum(axis=1)):
            estimate(self._sampler, self._state, int(e))
        if isinstance(self.sampling, Tracking):
            refresh(self.family, self._sampler, self._state)
        self._look()

    def correct(
        self,
        number: int,
        mediator: str,
        old: tuple[str, float] | None,
        new: tuple[str, float] | None,
        *,
        accept_surprise: bool = False,
    ) -> None:
        """Replace an answer that was told by another; None is silence. A verdict that was reached stays.

        The guarantee assumes that corrections are not chosen by their reward.
        """
        e = self._index(mediator, self.mediators, "mediator")
        before, after = self._coded(e, old, True), self._coded(e, new, accept_surprise)
        self._state.N_ea[e, before[0]] -= 1
        self._state.N_ea[e, after[0]] += 1
        _replace(self._state.tally, self._exact[0], before, after)
        estimate(self._sampler, self._state, e)
        if number in self._resolved:
            self._resolved[number] = after
            return
        _replace(self._counted, self._exact[1], before, after)
        self._look()

    def _mediator_of(self, query: Query | int, mediator: str | None) -> int:
        number = query.id if isinstance(query, Query) else query
        if number not in self._open:
            known = 0 <= number < self._issued
            raise TellError(f"query {number!r} {'has already been answered or cancelled' if known else 'was never asked'}")
        e = self._open[number]
        if mediator is not None and mediator != self.mediators[e]:
            raise TellError(f"query {number} was for mediator {self.mediators[e]!r}, not for {mediator!r}")
        return e

    def _answer(self, e: int, arm: str | None, reward: float | None, silent: bool, accept: bool) -> tuple[int, float]:
        if silent:
            if arm is not None or reward is not None:
                raise TellError("silent=True means that no arm was pulled: leave out arm and reward")
            return len(self.arms), 0.0
        if arm is None or reward is None:
            raise TellError("an answer needs arm and reward, or that the mediator was silent")
        a, x = self._index(arm, self.arms, "arm"), self.family.check_reward(reward)
        if self._declared[e] and self._policies[e, a] == 0.0 and not accept:
            raise TellError(
                f"mediator {self.mediators[e]!r} was declared never to pull {arm!r}: correct this, or say accept_surprise=True"
            )
        return a, x

    def _coded(self, e: int, answer: tuple[str, float] | None, accept: bool) -> tuple[int, float]:
        arm, reward = answer or (None, None)
        return self._answer(e, arm, reward, answer is None, accept)

    def _index(self, name: object, names: tuple[str, ...], what: str) -> int:
        if name not in names:
            raise TellError(f"{what} {name!r} is not known: choose one of {', '.join(map(repr, names))}")
        return names.index(str(name))

    def _resolve(self, number: int, outcome: tuple[int, float] | None) -> None:
        """Count what can be counted now, looking for the verdict after each answer."""
        if self.order == "arrival":
            self._count_one(outcome)
            return
        self._resolved[number] = outcome
        while self._next in self._resolved:
            self._count_one(self._resolved.pop(self._next))
            self._next += 1

    def _count_one(self, outcome: tuple[int, float] | None) -> None:
        if outcome is None:
            return
        a, x = outcome
        if a < len(self.arms):
            count(self._counted, a, x)
            add_exactly(self._exact[1][a], x)
        self._count += 1
        self._look()

    def _look(self) -> None:
        """Has the verdict been reached?"""
        if self._named is None:
            best, passed = verdict(self.family, self._stopper, self._counted, self._count, self._constant, 0)
            if passed:
                self._named = int(best)
                _, least, statistic, threshold = self.evidence()
                numbers = {"statistic": statistic, "threshold": threshold, "p_value": self._p_value(least)}
                self._verdict = {**numbers, "counted": self._count}

    @property
    def done(self) -> bool:
        """Has the verdict been reached? It stays, whatever is told later."""
        return self._named is not None

    @property
    def verdict(self) -> dict[str, float] | None:
        """The evidence at the moment when the verdict was reached: statistic, threshold, p_value, counted."""
        return self._verdict

    def reconsider(self) -> bool:
        """After corrections: if the evidence no longer supports the verdict, forget it. Was it forgotten?"""
        best, _, statistic, threshold = self.evidence()
        if self._named is None or (best == self._named and statistic >= threshold):
            return False
        self._named = self._verdict = None
        return True

    def _p_value(self, least: float) -> float:
        return min(1.0, (len(self.arms) - 1) * math.exp(-least)) if least > -700.0 else 1.0

    @property
    def recommendation(self) -> str | None:
        """The arm named by the verdict; before it, the leader so far, without a guarantee (None while nothing is known)."""
        if self._named is not None:
            return self.arms[self._named]
        if not self._counted.N_a.any():
            return None
        best = int(np.argmax(np.where(self._counted.N_a > 0, self._counted.mu_hat, -np.inf)))
        return self.arms[best]

    @property
    def pending(self) -> tuple[Query, ...]:
        """Open queries, oldest first."""
        return tuple(Query(number, self.mediators[e]) for number, e in self._open.items())

    @property
    def issued(self) -> int:
        """How many numbers have been given to queries and to answers that came unasked."""
        return self._issued

    @property
    def queries(self) -> tuple[int, ...]:
        """Queries of each mediator, open ones included, cancelled ones not."""
        return tuple(int(n) for n in self._state.N_e)

    @property
    def members(self) -> tuple[str, ...]:
        """The mediators that the rule may ask: all, unless some were pruned."""
        return tuple(self.mediators[int(e)] for e in self._sampler.members)

    def rename(self, what: str, names: Sequence[str]) -> None:
        """Give the "arms" or the "mediators" new names, place by place."""
        old = self.arms if what == "arms" else self.mediators
        if len(names) != len(old):
            raise ProblemError(f"{what}: {len(names)} names for {len(old)}")
        setattr(self, what, check_names(names, len(old), what.removesuffix("s")))

    @property
    def counted(self) -> int:
        """Answers that the verdict counts."""
        return self._count

    def evidence(self) -> tuple[int, float, float, float]:
        """The leader among the counted answers, its smallest ln E, the rule's statistic and what it must reach."""
        best, Z = glr(self.family, self._counted)
        if not self._counted.N_a.all():
            best = int(np.argmax(np.where(self._counted.N_a > 0, self._counted.mu_hat, -np.inf)))
        least = least_log_evalue(self.family, self._counted, int(best)) if Z > 0.0 else -math.inf
        statistic = least if isinstance(self.stopping, EProcess) else float(Z)
        threshold = float(self._constant[0]) + (growth(self._stopper, self._count) if self._count else 0.0)
        return int(best), least, max(statistic, 0.0), threshold

    @property
    def progress(self) -> Progress:
        """How far the learner is, in numbers."""
        state, counted = self._state, self._counted
        best, least, statistic, threshold = self.evidence()
        issued = max(1, int(state.N_e.sum()))
        waiting = self.pending[0] if self._resolved and self._open else None
        return Progress(
            leader=self.arms[best] if counted.N_a.any() else None,
            statistic=statistic,
            threshold=threshold,
            counted=self._count,
            told=int(state.N_ea.sum()),
            pending=len(self._open),
            waiting_for=waiting,
            queries_to_go=self._to_go(threshold - statistic),
            p_value=self._p_value(least),
            arms=tuple(arm_report(self.family, name, counted, a, self.delta) for a, name in enumerate(self.arms)),
            shares={name: int(state.N_e[e]) / issued for e, name in enumerate(self.mediators)},
            target={self.mediators[int(e)]: float(self._sampler.omega[i]) for i, e in enumerate(self._sampler.members)},
        )

    def _to_go(self, lack: float) -> float:
        """What is lacking, times T̂* in queries."""
        if self.done:
            return 0.0
        per_query = float(self.costs[self._sampler.members] @ self._sampler.omega)
        return max(0.0, lack) * float(self._sampler.point.bounds[1]) / per_query

    def to_dict(self) -> dict[str, Any]:
        """Everything, JSON-safe: a learner made from it asks exactly what this one would have asked."""
        sampler, rng = self._sampler, self._rng.bit_generator.state
        return {
            "format": 1,
            "arms": list(self.arms),
            "mediators": {
                name: self._policies[e].tolist() if self._declared[e] else None for e, name in enumerate(self.mediators)
            },
            "costs": self.costs.tolist(),
            "family": self.family.to_dict(),
            "delta": self.delta,
            "sampling": rule_to_dict(self.sampling),
            "stopping": rule_to_dict(self.stopping),
            "seed": self.seed,
            "silent": self.silent,
            "order": self.order,
            "rng": {"state": str(rng["state"]["state"]), "inc": str(rng["state"]["inc"])},
            "N_ea": self._state.N_ea.tolist(),
            "N_e": self._state.N_e.tolist(),
            "told": _tally_to_dict(self._state.tally),
            "counted": _tally_to_dict(self._counted),
            "target": sampler.target.tolist(),
            "omega": sampler.omega.tolist(),
            "R": sampler.R.tolist(),
            "point": {name: getattr(sampler.point, name).tolist() for name in ("omega", "q", "odds")},
            "bounds": [repr(float(x)) for x in sampler.point.bounds],
            "numbers": [self._asked, self._count, self._issued, self._next],
            "open": [list(item) for item in self._open.items()],
            "resolved": [[number, *(outcome or ())] for number, outcome in self._resolved.items()],
            "named": self._named,
            "verdict": self._verdict,
            "exact": [[list(partials) for partials in sums] for sums in self._exact],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Learner":
        """The learner that `to_dict` described."""
        if data.get("format") != 1:
            raise ProblemError(f"format = {data.get('format')!r}: this version reads format 1")
        kind: Any = FAMILIES[data["family"]["name"]]
        learner = cls(
            data["arms"],
            data["mediators"],
            family=kind(**{key: value for key, value in data["family"].items() if key != "name"}),
            delta=data["delta"],
            costs=data["costs"],
            sampling=rule_from_dict(data["sampling"], "sampling"),
            stopping=rule_from_dict(data["stopping"], "stopping"),
            seed=data["seed"],
            silent=data["silent"],
            order=data["order"],
        )
        rng: Any = learner._rng.bit_generator.state
        rng["state"] = {key: int(value) for key, value in data["rng"].items()}
        learner._rng.bit_generator.state = rng
        sampler, state = learner._sampler, learner._state
        state.N_ea[:], state.N_e[:] = data["N_ea"], data["N_e"]
        fill(state.tally, data["told"]["N_a"], data["told"]["S_a"])
        fill(learner._counted, data["counted"]["N_a"], data["counted"]["S_a"])
        sampler.target[:], sampler.omega[:], sampler.R[:] = data["target"], data["omega"], data["R"]
        for name, values in data["point"].items():
            getattr(sampler.point, name)[:] = values
        sampler.point.bounds[:] = [float(x) for x in data["bounds"]]
        learner._asked, learner._count, learner._issued, learner._next = data["numbers"]
        learner._open = {int(number): int(e) for number, e in data["open"]}
        learner._resolved = {int(n): (int(rest[0]), float(rest[1])) if rest else None for n, *rest in data["resolved"]}
        learner._named, learner._verdict = data["named"], data["verdict"]
        told, counted = ([[float(x) for x in partials] for partials in sums] for sums in data["exact"])
        learner._exact = (told, counted)
        return learner


def _tally_to_dict(tally: Tally) -> dict[str, list[float]]:
    return {"N_a": tally.N_a.tolist(), "S_a": tally.S_a.tolist()}


def add_exactly(partials: list[float], x: float) -> None:
    """Add x to a sum that is kept exactly, as floats that do not overlap (Shewchuk): a correction can take it out again."""
    kept = 0
    for y in partials:
        big, small = (x, y) if abs(x) >= abs(y) else (y, x)
        high = big + small
        low = small - (high - big)
        if low:
            partials[kept] = low
            kept += 1
        x = high
    partials[kept:] = [x]


def _replace(tally: Tally, exact: list[list[float]], before: tuple[int, float], after: tuple[int, float]) -> None:
    """Take one answer out and put another in; the arm K is silence."""
    for (a, x), step in ((before, -1), (after, 1)):
        if a < len(tally.N_a):
            add_exactly(exact[a], step * x)
            tally.N_a[a] += step
            tally.S_a[a] = math.fsum(exact[a]) if tally.N_a[a] else 0.0
            tally.mu_hat[a] = tally.S_a[a] / tally.N_a[a] if tally.N_a[a] else 0.0


def _mediators(given: Any, arms: tuple[str, ...], silent: bool) -> tuple[tuple[str, ...], Floats]:
    """Names and policies [E, K]; rows of NaN where a policy is not known."""
    K = len(arms)
    if isinstance(given, int):
        if given < 1:
            raise ProblemError("a learner needs at least one mediator")
        return check_names(None, given, "mediator"), np.full((given, K), np.nan)
    named = isinstance(given, Mapping)
    rows = list(given.values()) if named else list(given)
    names = check_names(list(given) if named else None, len(rows), "mediator")
    if not rows:
        raise ProblemError("a learner needs at least one mediator")
    policies = np.full((len(rows), K), np.nan)
    for e, row in enumerate(rows):
        if row is not None:
            values = np.asarray(row, dtype=np.float64)
            if values.shape != (K,):
                raise ProblemError(f"the policy of mediator {names[e]!r} needs {K} probabilities, one for each arm")
            check_policy(values, e, arms, names[e], silent)
            policies[e] = values
    return names, policies
