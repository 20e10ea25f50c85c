"""A learner, saved: everything it knows, JSON-safe, and back. One made anew asks exactly what the old one would have asked."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gobetween.core.absence import restore_plan, saved_plan
from gobetween.core.asked import BEST
from gobetween.core.learnt import restore_sums, sums_of
from gobetween.core.policies import json_row
from gobetween.core.state import Tally, fill
from gobetween.errors import ProblemError
from gobetween.files.rules import parse_family, parse_question, rule_from_dict, rule_to_dict
from gobetween.study.packing import LARGE, pack, unpack
from gobetween.study.setup import new_setup
from gobetween.study.watched import Watched

if TYPE_CHECKING:
    from gobetween.study.learner import Learner

FORMAT = 1
PACKED = 3  # the same with large matrices packed; policies were not in format 2
MATRICES = {"policies": "<f8", "N_ea": "<i8", "S_ea": "<f8", "R": "<f8", "estimated": "<f8"} | {
    "drift_N_a": "<i8",
    "drift_S_a": "<f8",
    "drift_N_ea": "<i8",
}


def save(learner: "Learner") -> dict[str, Any]:
    """Everything, JSON-safe."""
    data = _said(learner)
    matrices = {key: np.asarray(data.get(key, ()), kind) for key, kind in MATRICES.items()}
    packed = {key: pack(matrix) for key, matrix in matrices.items() if matrix.size >= LARGE}
    return data | packed | {"format": PACKED} if packed else data


def plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """A saved learner with its matrices as such, and each mediator with its policy."""
    if data.get("format") not in (2, PACKED):
        return dict(data)
    found = dict(data) | {"format": FORMAT}
    found |= {key: unpack(data[key], kind) for key, kind in MATRICES.items() if isinstance(data.get(key), Mapping)}
    if "policies" in found:
        found["mediators"] = dict(zip(found["mediators"], map(json_row, found.pop("policies")), strict=True))
    return found


def _cast(learner: "Learner") -> dict[str, Any]:
    """The mediators, as they are called now, with what is known of their policies; many of these apart, as a matrix."""
    policies = learner.setup.policies
    if policies.size >= LARGE:
        return {"mediators": list(learner.mediators), "policies": policies}
    return {"mediators": {name: json_row(policies[e]) for e, name in enumerate(learner.mediators)}}


def _said(learner: "Learner") -> dict[str, Any]:
    setup, state, rng = learner.setup, learner._state, learner._rng.bit_generator.state
    return {
        "format": FORMAT,
        "arms": list(learner.arms),
        **_cast(learner),
        "costs": setup.costs.tolist(),
        "family": setup.family.to_dict(),
        "delta": setup.delta,
        "sampling": rule_to_dict(setup.sampling),
        "stopping": rule_to_dict(setup.stopping),
        "seed": setup.seed,
        "silent": setup.silent,
        "order": setup.order,
        "rng": {"state": str(rng["state"]["state"]), "inc": str(rng["state"]["inc"])},
        "N_ea": state.N_ea.tolist(),
        "N_e": state.N_e.tolist(),
        "told": _sums(state.tally),
        "counted": _sums(learner._counted),
        **sums_of(*learner.families),
        **learner._watched.saved(),
        **learner._sampler.saved(),
        **learner._stopper.saved(),
        "plan": saved_plan(learner._plan, learner._sampler, learner._present),
        "numbers": [learner._asked, learner._count, learner._issued, learner._next],
        "open": [list(item) for item in learner._open.items()],
        "resolved": [[number, *(outcome or ())] for number, outcome in learner._resolved.items()],
        "named": _named(learner),
        **({} if setup.question == BEST else {"question": setup.question.to_dict()}),
        "verdict": learner._verdict,
        "exact": [[list(partials) for partials in sums] for sums in learner._exact],
    }


def load(data: Mapping[str, Any]) -> "Learner":
    """The learner that `save` described."""
    from gobetween.study.learner import Learner

    data = plain(data)
    if data.get("format") != FORMAT:
        raise ProblemError(f"format = {data.get('format')!r}: this version reads formats {FORMAT} to {PACKED}")
    setup = new_setup(
        data["arms"],
        data["mediators"],
        family=parse_family(data["family"]),
        sampling=rule_from_dict(data["sampling"], "sampling"),
        stopping=rule_from_dict(data["stopping"], "stopping"),
        question=parse_question(data.get("question", BEST.name), "question"),
        **{key: data[key] for key in ("delta", "costs", "seed", "silent", "order")},
    )
    learner = Learner.begun(setup)
    rng: Any = learner._rng.bit_generator.state
    rng["state"] = {key: int(value) for key, value in data["rng"].items()}
    learner._rng.bit_generator.state = rng
    state = learner._state
    state.N_ea[:], state.N_e[:] = data["N_ea"], data["N_e"]
    for tally, sums in ((state.tally, data["told"]), (learner._counted, data["counted"])):
        fill(tally, sums["N_a"], sums["S_a"])
    for family, sums in zip(learner.families, data.get("sums", ()), strict=False):
        restore_sums(family, sums)
    learner._sampler.restore(dict(data))
    learner._stopper.restore(dict(data))
    if data.get("plan") is not None:  # somebody was away, and the version that saved it planned around them
        learner._plan_for(np.array(data["plan"]["present"], np.bool_))
        restore_plan(learner._plan, data["plan"])
    learner._asked, learner._count, learner._issued, learner._next = data["numbers"]
    learner._open = {int(number): int(e) for number, e in data["open"]}
    learner._resolved = {int(n): (int(rest[0]), float(rest[1])) if rest else None for n, *rest in data["resolved"]}
    named = data["named"]
    learner._named = (named,) if isinstance(named, int) else None if named is None else tuple(named)
    learner._verdict = data["verdict"]
    told, counted = ([[float(x) for x in partials] for partials in sums] for sums in data["exact"])
    learner._exact = (told, counted)
    learner._watched = Watched.restored(data)
    return learner


def _named(learner: "Learner") -> int | list[int] | None:
    """The arms that a verdict named: one number for the best arm, as ever."""
    if learner._named is None:
        return None
    return learner._named[0] if learner.setup.question == BEST else list(learner._named)


def _sums(tally: Tally) -> dict[str, list[float]]:
    return {"N_a": tally.N_a.tolist(), "S_a": tally.S_a.tolist()}
