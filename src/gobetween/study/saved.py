"""A learner, saved: everything it knows, JSON-safe, and back. One made anew asks exactly what the old one would have asked."""

import base64
import zlib
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
from gobetween.study.setup import new_setup
from gobetween.study.watched import Watched

if TYPE_CHECKING:
    from gobetween.study.learner import Learner

FORMAT = 1
PACKED = 2  # the same with large matrices as bytes
MATRICES = {"N_ea": "<i8", "S_ea": "<f8", "R": "<f8", "estimated": "<f8"} | {
    "drift_N_a": "<i8",
    "drift_S_a": "<f8",
    "drift_N_ea": "<i8",
}
LARGE = 10_000  # numbers of a matrix from which on it is packed


def save(learner: "Learner") -> dict[str, Any]:
    """Everything, JSON-safe."""
    return pack(_said(learner))


def pack(data: dict[str, Any]) -> dict[str, Any]:
    """The same with large matrices of numbers as text of their compressed bytes, which is read a hundred times as fast."""
    packed = {}
    for key, kind in MATRICES.items():
        matrix = np.asarray(data.get(key, ()), kind)
        if matrix.size < LARGE:
            continue
        text = base64.b64encode(zlib.compress(matrix.tobytes(), 1)).decode()
        packed[key] = {"shape": list(matrix.shape), "bytes": text}
    return data | packed | {"format": PACKED} if packed else data


def unpack(data: Mapping[str, Any]) -> dict[str, Any]:
    """What `pack` was given."""
    if data.get("format") != PACKED:
        return dict(data)
    plain = {}
    for key, kind in MATRICES.items():
        if isinstance(value := data.get(key), Mapping):
            read = np.frombuffer(zlib.decompress(base64.b64decode(value["bytes"])), kind)
            plain[key] = read.reshape(value["shape"])
    return {**data, **plain, "format": FORMAT}


def _said(learner: "Learner") -> dict[str, Any]:
    setup, state, rng = learner.setup, learner._state, learner._rng.bit_generator.state
    return {
        "format": FORMAT,
        "arms": list(learner.arms),
        "mediators": {name: json_row(setup.policies[e]) for e, name in enumerate(learner.mediators)},
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

    data = unpack(data)
    if data.get("format") != FORMAT:
        raise ProblemError(f"format = {data.get('format')!r}: this version reads formats {FORMAT} and {PACKED}")
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
