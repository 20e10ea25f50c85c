"""Arguments of the public names: those that do not fit are one sentence, not what they break inside.

A call that works pays nothing for it: only when it fails in Python's own words are its arguments held against its signature.
"""

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import wraps
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Any, ForwardRef, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from gobetween.errors import GoBetweenError, ProblemError
from gobetween.export import choose, is_number, is_whole, meant_number, short

RAW = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError)
_SEVERAL = (list, tuple, set, Set, Sequence, Iterable, Collection)
_SEEN: set[type[Any]] = set()  # whose methods need no look any more
_WORDS = {float: "a number", int: "a whole number", bool: "True or False", str: "a text", NoneType: "None"}
_EXAMPLES = {
    "LowerBound": "gb.lower_bound(problem)",
    "Problem": "gb.Problem([0.7, 0.5], [[0.8, 0.2], [0.3, 0.7]])",
    "Question": "gb.TopM(2), for one",
    "Query": "learner.ask() returns one",
    "StudySpec": 'gb.StudySpec(["a", "b"], {"North": [0.5, 0.5]})',
}


def guarded(value: Any) -> Any:
    """A public name: a function, or a class with its methods, that tells which argument does not fit."""
    if isinstance(value, FunctionType):
        return _guard(value, value.__name__)
    if inspect.isclass(value) and not issubclass(value, BaseException):
        for kind in value.__mro__:
            if kind.__module__.startswith("gobetween.") and kind not in _SEEN:
                _SEEN.add(kind)
                _guard_methods(kind, value.__name__)
    return value


def _guard_methods(kind: type[Any], shown: str) -> None:
    maker = "__new__" if issubclass(kind, tuple) else "__init__"
    for name, found in list(vars(kind).items()):
        if name == maker and isinstance(found, (FunctionType, staticmethod)):
            setattr(kind, name, _guard(getattr(found, "__func__", found), shown, own=True))
        elif not name.startswith("_") and not hasattr(kind, "needs"):  # methods of families and rules are compiled
            if isinstance(found, classmethod):
                setattr(kind, name, classmethod(_guard(found.__func__, f"{shown}.{name}", own=True)))
            elif isinstance(found, FunctionType):
                setattr(kind, name, _guard(found, f"{shown}.{name}", own=True))


def _guard(function: Any, name: str, own: bool = False) -> Any:
    if hasattr(function, "__wrapped__"):
        return function  # a context manager, or guarded already

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            found = function(*args, **kwargs)
        except GoBetweenError:
            raise
        except RAW as error:
            _blame(function, name, own, args, kwargs, error)
            raise
        return found if type(found) in _SEEN else _met(found)

    return call


def _met(found: Any) -> Any:
    """What a call returns is public as well."""
    kind = type(found)
    if not kind.__name__.startswith("_"):
        guarded(kind)
    _SEEN.add(kind)
    return found


def _blame(function: Any, name: str, own: bool, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception) -> None:
    """Raise what is wrong with the arguments, if something is."""
    signature = inspect.signature(function)
    known = [part for one in list(signature.parameters.values())[own:] for part in _parts(one, function)]
    try:
        given = inspect.Signature(known).bind(*args[own:], **kwargs).arguments
    except TypeError:
        _refuse_call(name, known, len(args) - own, kwargs)
    for parameter in known:
        hint = _meaning(parameter.annotation, function)
        several = parameter.kind is parameter.VAR_POSITIONAL
        if parameter.name in given and not several and not fits(given[parameter.name], hint):
            value = given[parameter.name]
            what = f"= {short(value)}: {name} takes {wanted(hint)}{meant_number(value)}"
            raise ProblemError(what, where=(parameter.name,)) from None
    for key, value in given.items():
        if isinstance(error, KeyError) and isinstance(value, Mapping) and error.args[0] not in value:
            raise ProblemError(f"lacks {error.args[0]!r}: pass what to_dict() returned", where=(key,)) from None


def _refuse_call(name: str, known: list[inspect.Parameter], args: int, kwargs: Mapping[str, Any]) -> NoReturn:
    """A call that does not even name the right arguments."""
    names = [one.name for one in known if one.kind is not one.VAR_POSITIONAL]
    for key in kwargs:
        if key not in names:
            raise ProblemError(f"{name} takes no {key!r}: {choose(key, names, str, 20)}") from None
    placed = [one.name for one in known if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    missing = [one for one in known if one.default is one.empty and one.name not in (*kwargs, *placed[:args])]
    if missing and args <= len(placed):
        raise ProblemError(f"{name} needs {', '.join(one.name for one in missing)}: {name}({', '.join(names)})") from None
    named = [key for key in names if key not in placed]
    rest = f"; name the others: {', '.join(f'{key}=…' for key in named)}" if named else ""
    raise ProblemError(f"{name} takes {', '.join(placed) or 'nothing'} by position{rest}") from None


def _parts(one: inspect.Parameter, function: Any) -> list[inspect.Parameter]:
    """A parameter; of `**options: Unpack[…]` those that there are."""
    hint = _meaning(one.annotation, function)
    if one.kind is not one.VAR_KEYWORD:
        return [one]
    hints = get_type_hints(get_args(hint)[0]) if get_args(hint) else {}
    return [inspect.Parameter(key, one.KEYWORD_ONLY, default=None, annotation=found) for key, found in hints.items()]


def _meaning(hint: Any, function: Any) -> Any:
    """An annotation; what cannot be found out may be anything."""
    if isinstance(hint, str):
        try:
            hint = eval(hint, function.__globals__)
        except NameError:
            return Any
    return Any if hint is inspect.Parameter.empty else hint


def fits(value: Any, hint: Any) -> bool:
    """May an argument be of this type? In doubt it may."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Annotated:
        return fits(value, parts[0])
    if origin is Literal:
        return value in parts
    if hint in (float, int):
        return is_number(value) and (hint is float or is_whole(value))
    if hint in (Any, None, NoneType):
        return hint is Any or value is None
    kind = origin or hint
    if not inspect.isclass(kind) or getattr(kind, "_is_protocol", False):
        return value is not None
    if kind is os.PathLike:
        return isinstance(value, (str, os.PathLike))
    if isinstance(value, str) and kind in _SEVERAL:
        return False
    inner = parts[0] if kind in _SEVERAL and len(parts) == 1 else Any
    items: Iterable[Any] = () if inner is Any or not isinstance(value, Iterable) else value
    return isinstance(value, kind) and all(fits(item, inner) for item in items)


def wanted(hint: Any) -> str:
    """A type in words, with how to make one."""
    if get_origin(hint) is Annotated:
        return wanted(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        parts = [part for part in get_args(hint) if part not in (complex, bytes) and not isinstance(part, ForwardRef)]
        *first, last = dict.fromkeys(wanted(part) for part in parts if not getattr(part, "__name__", "").startswith("_"))
        return f"{', '.join(first)} or {last}" if first else last
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    kind = get_origin(hint) or hint
    if kind in _SEVERAL:
        inner = _WORDS.get(get_args(hint)[0], "") if get_args(hint) else ""
        return f"a list of {inner.split(' ', 1)[1]}s" if inner.startswith("a ") else "a list"
    if kind in (Mapping, dict):
        return "a dict"
    if kind is os.PathLike:
        return "a path"
    if kind is Callable:
        return "a function"
    name = getattr(kind, "__name__", str(kind))
    if name in _EXAMPLES:
        return f"a gb.{name} ({_EXAMPLES[name]})"
    return _WORDS.get(kind, f"gb.{name}" if kind.__module__.startswith("gobetween.") else name)
