"""Rules and families ↔ words and tables: what files, commands and saved learners call them, all from the registry."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, NamedTuple

from gobetween.core.evidence.guess import Guess
from gobetween.core.ground.registry import classes, default_word, find, words
from gobetween.core.ground.value import parameters_of
from gobetween.core.question.question import Question
from gobetween.core.reward.families import DEFAULT
from gobetween.core.reward.family import Family
from gobetween.core.reward.unknown_sigma import UNKNOWN
from gobetween.errors import Fix, GoBetweenError, SpecError
from gobetween.export import choose
from gobetween.files.fields import number, show, typed

_WHAT: Mapping[Any, str] = {
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    str: "a string",
    list: "a list of numbers",
}


class NamedRule(NamedTuple):
    """A rule and what a table calls it."""

    name: str
    rule: Any


def default(side: str) -> NamedRule:
    """What is used when nothing is said."""
    return NamedRule(*default_word(side))


def parse_rule(value: Any, side: str, path: str) -> NamedRule:
    """A rule of one side, "sampling" or "stopping": a word, or a table with `rule`, parameters and perhaps a `name`."""
    if isinstance(value, str):
        if value not in (known := words(side)):
            find_kind(side, value, path)  # says why, if it was announced and cannot be loaded
            raise SpecError(f"{path} = {value!r}: {choose(value, known, str, 20)}, or a table with a rule", fix=Fix("plugin"))
        return NamedRule(value, words(side)[value])
    if not isinstance(value, Mapping):
        raise SpecError(f"{path} = {value!r}: must be the name of a rule or a table with a rule")
    if "rule" not in value:
        raise SpecError(f"{path}.rule is missing: choose one of {', '.join(classes(side))}")
    kind = find_kind(side, value["rule"], path) if isinstance(value["rule"], str) else None
    if kind is None:
        came = f" (it came from {value['from']})" if isinstance(value.get("from"), str) else ""
        raise SpecError(
            f"{path}.rule = {value['rule']!r}{came}: {choose(value['rule'], classes(side), str)}", fix=Fix("plugin")
        )
    name = value.get("name", "")
    if not isinstance(name, str):
        raise SpecError(f"{path}.name = {name!r}: must be a string")
    rule = build(kind, {k: v for k, v in value.items() if k not in ("rule", "name", "from")}, path, ("rule", "name"))
    return NamedRule(name or word(rule), rule)


def parse_question(value: Any, path: str) -> Question:
    """A question: a word, or a table with its `name` and parameters."""
    table = value if isinstance(value, Mapping) else {"name": value}
    name = table.get("name")
    kind = find_kind("question", name, path) if isinstance(name, str) else None
    if kind is None:
        raise SpecError(f"{path} = {show(name)}: {choose(name, classes('question'), str)}")
    if any(key not in table for key in parameters_of(kind)):
        keys = parameters_of(kind)
        short, long = ",".join(f"{key}=…" for key in keys), ", ".join(f"{key} = …" for key in keys)
        raise SpecError(f'{path}: {name} needs {", ".join(keys)}: say {name}:{short}, in a file {{ name = "{name}", {long} }}')
    found: Question = build(kind, {key: part for key, part in table.items() if key != "name"}, path, ("name",))
    return found


def table_of(text: str) -> dict[str, object]:
    """What a command says, name:key=number,key=number, as a table."""
    name, _, rest = text.partition(":")
    table: dict[str, object] = {"name": name}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        try:
            word = value.strip()
            table[key.strip()] = UNKNOWN if word == UNKNOWN else int(value) if word.isdigit() else float(value)
        except ValueError:
            raise SpecError(f"{text!r}: write it as name:key=number,key=number") from None
    return table


def guessing(rule: NamedRule, guess: Guess | None) -> NamedRule:
    """The stopping rule with a guess, if it is one that takes them; comparisons may name others."""
    return rule._replace(rule=rule.rule.guessing(guess)) if rule.rule.guesses else rule


def find_kind(side: str, name: str, path: str) -> type[Any] | None:
    """The class of that name; None if there is none, an error if it is announced and cannot be loaded."""
    try:
        return find(side, name)
    except GoBetweenError as error:
        raise SpecError(f"{path}: {error}") from None


def build(kind: type[Any], parameters: Mapping[str, Any], path: str, beside: tuple[str, ...]) -> Any:
    """A rule or family from its parameters, each checked against its type."""
    known, hints = parameters_of(kind), _hints(kind)
    found: dict[str, Any] = {}
    for key, value in parameters.items():
        if key not in known:
            raise SpecError(f"{path}.{key} is not a known key: {choose(key, [*beside, *known], str)}")
        wanted = _wanted(hints.get(key))
        if wanted is float:
            found[key] = number(value, f"{path}.{key}")
        else:
            found[key] = typed(value, wanted, f"{path}.{key}", _WHAT.get(wanted, "of another type"))
            found[key] = tuple(value) if wanted is list else value
    try:
        return kind(**found)
    except GoBetweenError as error:
        raise SpecError(f"{path}: {error.what}", fix=error.fix) from None
    except (ValueError, TypeError) as error:
        raise SpecError(f"{path}: {error}") from None


def _hints(kind: type[Any]) -> dict[str, Any]:
    """Types of parameters, also where a NamedTuple was inherited from."""
    return {name: hint for part in reversed(kind.__mro__) for name, hint in getattr(part, "__annotations__", {}).items()}


def _wanted(hint: Any) -> Any:
    """The type that a file writes for a parameter: `float | None` is a number, a tuple a list."""
    for kind in (bool, float, int, str):
        if hint is kind or (kind in getattr(hint, "__args__", ()) and getattr(hint, "__origin__", None) is None):
            return kind
    return list if getattr(hint, "__origin__", None) in (tuple, list) else object


def word(rule: Any) -> str:
    """A short name: the rule's own word, or its kind with the parameters that are not defaults."""
    kind, stated = rule.name or type(rule).__name__, _stated(rule)
    for name, parameters in (*rule.words.items(), (kind, {})):
        if stated == dict(parameters):
            return str(name)
    return f"{kind}({', '.join(f'{key}={value}' for key, value in stated.items())})"


def _stated(rule: Any) -> dict[str, Any]:
    """The parameters that are not defaults."""
    if not is_dataclass(rule):
        defaults = rule._field_defaults
        return {name: getattr(rule, name) for name in rule._fields if getattr(rule, name) != defaults.get(name, MISSING)}
    return {field.name: getattr(rule, field.name) for field in fields(rule) if getattr(rule, field.name) != field.default}


def rule_to_dict(rule: Any) -> dict[str, Any]:
    """JSON-safe, with every parameter (those `if_said` only then); None stands for a default that depends on the problem."""
    told = [name for name in parameters_of(type(rule)) if getattr(rule, name) is not None or name not in _if_said(rule)]
    return {"rule": rule.name, **_from(rule), **{name: _plain(getattr(rule, name)) for name in told}}


def _if_said(rule: Any) -> set[str]:
    return {part.name for part in fields(rule) if "if_said" in part.metadata} if is_dataclass(rule) else set()


def _plain(value: Any) -> Any:
    """A parameter, JSON-safe."""
    return list(value) if isinstance(value, tuple) else value.to_dict() if hasattr(value, "to_dict") else value


def rule_from_dict(data: Mapping[str, Any], side: str) -> Any:
    """The rule that `rule_to_dict` described."""
    return parse_rule({key: value for key, value in data.items() if value is not None}, side, side).rule


def _from(rule: Any) -> dict[str, str]:
    """Where a rule of someone else's came from, for the day when it is no longer there."""
    kind = type(rule)
    if kind.__module__.startswith("gobetween."):
        return {}
    if find("sampling", rule.name) is not kind and find("stopping", rule.name) is not kind:
        raise SpecError(f"{kind.__name__} cannot be saved: put @gb.register above its class, so that it is found again")
    return {"from": f"{kind.__module__}.{kind.__qualname__}"}


def family_in(data: Mapping[str, Any]) -> Family:
    """The family that a file or a part of it names, or the default."""
    return parse_family(data["family"]) if "family" in data else DEFAULT


def parse_family(value: Any) -> Family:
    """A family from its name or from a table with a name and parameters."""
    if not isinstance(value, (str, Mapping)):
        raise SpecError(f"family = {show(value)}: must be a name or a table with a name")
    table = {"name": value} if isinstance(value, str) else value
    if "name" not in table:
        raise SpecError(f"family.name is missing: choose one of {', '.join(classes('family'))}")
    name = table["name"]
    kind = find_kind("family", name, "family") if isinstance(name, str) else None
    if kind is None:
        raise SpecError(f"family.name = {show(name)}: {choose(name, classes('family'), str, 20)}", fix=Fix("plugin"))
    meant = kind.spelled(table)
    beside = ("name",) if meant is kind else ("name", "sigma")
    family: Family = build(meant, {key: value for key, value in table.items() if key not in beside}, "family", beside)
    return family
