"""Rules ↔ names: what files, the command line and saved learners call the sampling and stopping rules."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, NamedTuple

from gobetween.core.sampling import Oracle, Static, Tracking, UniformSampling
from gobetween.core.stopping import GLR, EProcess
from gobetween.errors import SpecError

KINDS: Mapping[str, Mapping[str, Any]] = {
    "sampling": {"tracking": Tracking, "uniform": UniformSampling, "static": Static, "oracle": Oracle},
    "stopping": {"e-process": EProcess, "glr": GLR},
}
#: Rules that have a word of their own; any other is a table such as { rule = "tracking", tol = 0.01 }.
WORDS: Mapping[str, Mapping[str, Any]] = {
    "sampling": {
        "tracking": Tracking(),
        "tracking-d": Tracking(tracking="D"),
        "unknown": Tracking(policies="unknown"),
        "pruned": Tracking(prune=True),
        "uniform": UniformSampling(),
        "cyclic": UniformSampling(order="cyclic"),
        "oracle": Oracle(),
    },
    "stopping": {
        "e-process": EProcess(),
        "paper": GLR(),
        "garivier-kaufmann": GLR(rate="garivier-kaufmann"),
        "kaufmann-koolen": GLR(rate="kaufmann-koolen"),
        "heuristic": GLR(rate="heuristic"),
    },
}
_TYPES: Mapping[str, tuple[Any, str]] = {
    "prune": (bool, "true or false"),
    "tol": (float, "a number"),
    "C": (float, "a number"),
    "alpha": (float, "a number"),
    "omega": (list, "a list of shares that sum to 1"),
}


class Named(NamedTuple):
    """A rule and what a table calls it."""

    name: str
    rule: Any


def default(side: str) -> Named:
    """What is used when nothing is said."""
    return Named(*next(iter(WORDS[side].items())))


def parse_rule(value: Any, side: str, path: str) -> Named:
    """A rule of one side, "sampling" or "stopping": a word, or a table with `rule`, parameters and perhaps a `name`."""
    if isinstance(value, str):
        if value not in WORDS[side]:
            raise SpecError(f"{path} = {value!r}: choose one of {', '.join(WORDS[side])}, or a table with a rule")
        return Named(value, WORDS[side][value])
    if not isinstance(value, Mapping):
        raise SpecError(f"{path} = {value!r}: must be the name of a rule or a table with a rule")
    if value.get("rule") not in KINDS[side]:
        what = f"rule = {value['rule']!r}" if "rule" in value else "rule is missing"
        raise SpecError(f"{path}.{what}: choose one of {', '.join(KINDS[side])}")
    name = value.get("name", "")
    if not isinstance(name, str):
        raise SpecError(f"{path}.name = {name!r}: must be a string")
    rule = _build(KINDS[side][value["rule"]], {k: v for k, v in value.items() if k not in ("rule", "name")}, path)
    return Named(name or word(rule), rule)


def _build(kind: Any, parameters: Mapping[str, Any], path: str) -> Any:
    known = [field.name for field in fields(kind)]
    for key, value in parameters.items():
        if key not in known:
            choices = f"choose from {', '.join(['rule', 'name', *known])}"
            raise SpecError(f"{path}.{key} is not a known key: {choices}")
        wanted, what = _TYPES.get(key, (str, "a string"))
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (number if wanted is float else isinstance(value, wanted)):
            raise SpecError(f"{path}.{key} = {value!r}: must be {what}")
    try:
        return kind(**parameters)
    except (ValueError, TypeError) as error:
        raise SpecError(f"{path}: {error}") from None


def word(rule: Any) -> str:
    """A short name: the rule's own word, or its kind with the parameters that are not defaults."""
    for side in KINDS:
        for name, known in WORDS[side].items():
            if known == rule:
                return name
    stated = [
        f"{field.name}={getattr(rule, field.name)}" for field in fields(rule) if getattr(rule, field.name) != field.default
    ]
    return f"{_kind(rule)}({', '.join(stated)})"


def rule_to_dict(rule: Any) -> dict[str, Any]:
    """JSON-safe, with every parameter; None stands for a default that depends on the problem."""
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(rule).items()}
    return {"rule": _kind(rule), **values}


def rule_from_dict(data: Mapping[str, Any], side: str) -> Any:
    """The rule that `rule_to_dict` described."""
    return parse_rule({key: value for key, value in data.items() if value is not None}, side, side).rule


def _kind(rule: Any) -> str:
    return next(name for side in KINDS.values() for name, kind in side.items() if type(rule) is kind)
