"""How a log was read: what an analyst should know about words, names, missing rewards and policies."""

from collections.abc import Sequence
from functools import singledispatch

from gobetween.export import numbered
from gobetween.logs.analysis import notes as facts
from gobetween.words.numbers import chance

SHOWN = 10
WHY = {
    "too much": "",
    "no room for silence": ", which leaves no room for its silence",
    "an arm never chosen": ", and some arm it was never seen to choose",
    "the rest not said": ", and the log does not say what it does otherwise",
}


def note_sentences(notes: Sequence[facts.Note]) -> tuple[str, ...]:
    """All of them, in their order."""
    return tuple(line for note in notes for line in note_words(note))


@singledispatch
def note_words(note: facts.Note) -> list[str]:
    """A note in one sentence or a few."""
    raise NotImplementedError


@note_words.register
def _(note: facts.RewardWords) -> list[str]:
    told = ", ".join(f"{word} as {value:g}" for word, value in note.words)
    return [f"Some rewards are words, read as numbers: {told}."]


@note_words.register
def _(note: facts.LeftOut) -> list[str]:
    return [f"{_rows(note.rows)} left out, as asked."]


@note_words.register
def _(note: facts.LookAlikes) -> list[str]:
    told = "; ".join(" and ".join(map(repr, group)) for group in note.groups[:SHOWN]) + _rest(note.groups)
    differ = "whose names look alike, or differ only by case or spaces, are counted separately (fold joins most, rename any)"
    return [f"{note.what.capitalize()} {differ}: {told}."]


@note_words.register
def _(note: facts.UnusedNames) -> list[str]:
    return [f"Names to be renamed that are not in the log: {_names(note.names)}."]


@note_words.register
def _(note: facts.ImpossibleRewards) -> list[str]:
    left = "rows chosen by their rewards break the guarantee. Is the family right?"
    return [f"{_rows(note.rows)} left out for rewards that are impossible in the {note.family} family: {left}"]


@note_words.register
def _(note: facts.OneSided) -> list[str]:
    if note.name is None:
        return [f"{_rows(note.rows)} left out for letters that are not UTF-8: if those are of one {note.what}, it is missing."]
    return [f"All rows that were left out are of {note.what} {note.name!r}: the answer is not about them."]


@note_words.register
def _(note: facts.MissingRewards) -> list[str]:
    by_arm, by_mediator = (
        ", ".join(f"{name!r} {m / n:.1%}" for name, m, n in part[:SHOWN]) + _rest(part)
        for part in (note.by_arm, note.by_mediator)
    )
    lines = [f"{numbered(note.rows, 'row has', 'rows have')} no reward: by arm {by_arm}; by mediator {by_mediator}."]
    if note.uneven == "arm":
        lines.append(
            f"Some arms lack rewards more often than others (false alarm at most {chance(facts.LEVEL)}): if that depends on "
            "what was paid, estimates are biased and the guarantee does not hold."
        )
    elif note.uneven == "mediator":
        lines.append(f"Some mediators lack rewards more often than others (false alarm at most {chance(facts.LEVEL)}).")
    return lines


@note_words.register
def _(note: facts.VaryingPropensities) -> list[str]:
    told = _names(note.mediators)
    return [f"Propensities of {told} vary from row to row: policies are averages, estimated from the arms they chose."]


@note_words.register
def _(note: facts.NoPolicies) -> list[str]:
    return [
        f"Propensities of {name!r} sum to {total:.4g} over its arms{WHY[why]}: not a policy, so not used."
        for name, total, why in note.found[:SHOWN]
    ]


def _rows(n: int) -> str:
    return numbered(n, "row was", "rows were")


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:SHOWN])) + _rest(names)


def _rest(items: Sequence[object]) -> str:
    return f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
