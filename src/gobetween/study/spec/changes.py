"""What a changed spec would change: what is taken over, and what is refused."""

from collections.abc import Mapping, Sequence
from typing import Any

from gobetween.errors import Fix, StudyError
from gobetween.export import choose, short, shortened, some
from gobetween.names import check_look
from gobetween.study.spec.spec import EDITABLE, StudySpec, begun_with, differences

Changes = dict[str, tuple[Any, Any]]  # field → (old, new)
NAMES = {"arm": "arms", "mediator": "mediators"}


def changes_to(stored: Mapping[str, Any], spec: StudySpec, begun: bool) -> Changes:
    """What taking over a spec would change; refused when the study has begun and it is more than may change then.

    What the spec leaves out of the rest stays as it is.

    Names are refused too: a list of names does not say whether one was replaced by another thing or by another word.
    """
    changes = differences(stored, begun_with(stored, spec) if begun else spec)
    for field, (old, new) in changes.items() if begun else ():
        if field in NAMES.values() and _is_renaming(old, new):
            others = [f"{b!r} where the study has {a!r}" for a, b in zip(old, new, strict=True) if a != b]
            raise StudyError(f"{field}: there is {shortened(others)}: undo that", fix=Fix("rename"))
        if field in NAMES.values():
            _refuse_cast(field, old, new)
        if field == "stopping" and old.get("guess") != new.get("guess"):
            raise StudyError(
                "the guess of the means cannot change, the study has begun: one that is made after answers were counted "
                "would not be safe, so undo that"
            )
        if field == "policies":
            who = [name for name, a, b in zip(spec.mediators, old, new, strict=True) if a != b]
            raise StudyError(f"policies: of {some(who)} the study has another one: undo that", fix=Fix("declare"))
        if field not in EDITABLE or field in NAMES.values():
            raise StudyError(f"{field} cannot change, the study has begun: it is {short(old)}, not {short(new)}")
    return changes


def _refuse_cast(field: str, old: Sequence[str], new: Sequence[str]) -> None:
    """Somebody more or less, which a file alone does not bring about."""
    more, gone = [name for name in new if name not in old], [name for name in old if name not in new]
    begun, names = f"{field} cannot change, the study has begun", some(more or gone)
    if more and not gone and field == "arms":
        raise StudyError(
            f"{begun} and shares its risk among the arms it began with, not {names}: undo that, or begin a new study"
        )
    if more and not gone and list(new[: len(old)]) == list(old):
        raise StudyError(f"{begun} without {names}", fix=Fix("join"))
    if gone and not more:
        about = ", what='arm'" if field == "arms" else ""
        raise StudyError(f"{begun} with {names}: write it there again", fix=Fix("retire", about))


def _is_renaming(old: Sequence[str], new: Sequence[str]) -> bool:
    """Names change place by place: as many as before, and none moves to another place."""
    return len(old) == len(new) and not any(name in old and old[i] != name for i, name in enumerate(new))


def renamed(spec: StudySpec, old: str, new: str, what: str | None) -> tuple[str, list[str]]:
    """The field, arms or mediators, and its names once one is replaced; `what` says which where both have that name."""
    homes = [field for word, field in NAMES.items() if what in (None, word) and old in getattr(spec, field)]
    if len(homes) == 2:
        raise StudyError(f"{old!r} is the name of an arm and of a mediator", fix=Fix("which-name"))
    if not homes:
        known = [name for word, field in NAMES.items() if what in (None, word) for name in getattr(spec, field)]
        raise StudyError(f"{what or 'name'} {old!r} is not known: {choose(old, known)}")
    names = list(getattr(spec, homes[0]))
    if new in names and new != old:
        raise StudyError(f"{new!r} is the name of another of the {homes[0]}: names must differ")
    after = [new if name == old else name for name in names]
    check_look(after, homes[0][:-1], new)
    return homes[0], after
