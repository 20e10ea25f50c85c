"""Rules and families ↔ words and tables: what files, commands and saved learners call them, all from the registry."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from typing import Any, NamedTuple

from gobetween.core.families import DEFAULT
from gobetween.core.family import Family
from gobetween.core.question import Question
from gobetween.core.registry import classes, find, words
from gobetween.core.rule import parameters_of
from gobetween.core.stopping import EProcess
from gobetween.core.unknown import UNKNOWN
from gobetween.errors import Fix, GoBetweenError, SpecError
from gobetween.files.fields import number, show, typed

#: Parameters that are no longer there, with the value that saved learners may still state.
_GONE = {"start": "uniform"}
#: Parameters that have come since, with what rules were before.
_BEFORE: Mapping[str, dict[str, Any]] = {EProcess.name: dict(EProcess.words["pairs"])}
_WHAT: Mapping[Any, str] = {
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    str: "a string",
    list: "a list of numbers",
}


class Named(NamedTuple):
    """A rule and what a table calls it."""

    name: str
    rule: Any


def default(side: str) -> Named:
    """What is used when nothing is said."""
    return Named(*next(iter(words(side).items())))


def parse_rule(value: Any, side: str, path: str) -> Named:
    """A rule of one side, "sampling" or "stopping": a word, or a table with `rule`, parameters and perhaps a `name`."""
    if isinstance(value, str):
        if value not in (known := words(side)):
            find_kind(side, value, path)  # says why, if it was announced and cannot be loaded
            raise SpecError(f"{path} = {value!r}: choose one of {', '.join(known)}, or a table with a rule", fix=Fix("plugin"))
        return Named(value, words(side)[value])
    if not isinstance(value, Mapping):
        raise SpecError(f"{path} = {value!r}: must be the name of a rule or a table with a rule")
    if "rule" not in value:
        raise SpecError(f"{path}.rule is missing: choose one of {', '.join(classes(side))}")
    kind = find_kind(side, value["rule"], path) if isinstance(value["rule"], str) else None
    if kind is None:
        came = f" (it came from {value['from']})" if isinstance(value.get("from"), str) else ""
        raise SpecError(f"{path}.rule = {value['rule']!r}{came}: choose one of {', '.join(classes(side))}", fix=Fix("plugin"))
    name = value.get("name", "")
    if not isinstance(name, str):
        raise SpecError(f"{path}.name = {name!r}: must be a string")
    rule = build(kind, {k: v for k, v in value.items() if k not in ("rule", "name", "from")}, path, ("rule", "name"))
    return Named(name or word(rule), rule)


def parse_question(value: Any, path: str) -> Question:
    """A question: a word, or a table with its `name` and parameters."""
    table = value if isinstance(value, Mapping) else {"name": value}
    name = table.get("name")
    kind = find_kind("question", name, path) if isinstance(name, str) else None
    if kind is None:
        raise SpecError(f"{path} = {show(name)}: choose one of {', '.join(classes('question'))}")
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
            raise SpecError(f"{path}.{key} is not a known key: choose from {', '.join([*beside, *known])}")
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
    """JSON-safe, with every parameter; None stands for a default that depends on the problem."""
    values = asdict(rule) if is_dataclass(rule) and not isinstance(rule, type) else rule._asdict()
    shown = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return {"rule": rule.name, **_from(rule), **shown}


def rule_from_dict(data: Mapping[str, Any], side: str) -> Any:
    """The rule that `rule_to_dict` described."""
    return parse_rule({key: value for key, value in present(data).items() if value is not None}, side, side).rule


def present(data: Mapping[str, Any]) -> dict[str, Any]:
    """A saved rule as it is called now: without parameters that are gone, with those that have come."""
    kept = {key: value for key, value in data.items() if _GONE.get(key) != value}
    return _BEFORE.get(str(kept.get("rule")), {}) | kept


def _from(rule: Any) -> dict[str, str]:
    """Where a rule of someone else's came from, for the day when it is no longer there."""
    kind = type(rule)
    if find("sampling", rule.name) is not kind and find("stopping", rule.name) is not kind:
        raise SpecError(f"{kind.__name__} cannot be saved: put @gb.register above its class, so that it is found again")
    return {} if kind.__module__.startswith("gobetween.") else {"from": f"{kind.__module__}.{kind.__qualname__}"}


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
        known = ", ".join(classes("family"))
        raise SpecError(f"family.name = {show(name)}: choose one of {known}", fix=Fix("plugin"))
    meant = kind.spelled(table)
    beside = ("name",) if meant is kind else ("name", "sigma")
    family: Family = build(meant, {key: value for key, value in table.items() if key not in beside}, "family", beside)
    return family
