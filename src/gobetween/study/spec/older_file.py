"""A study file, or a spec, that is older than what commands have changed since: it is no edit, and blocks nothing.

What it says of names, mediators and policies was true of the study once. Anything that never was is an edit, as before.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from gobetween.export import some
from gobetween.study.spec.changes import NAMES
from gobetween.study.spec.spec import StudySpec


def brought_up(
    spec: StudySpec, now: StudySpec, first: StudySpec, events: Iterable[Mapping[str, Any]]
) -> tuple[StudySpec, list[str]]:
    """The same with what commands have changed since, and what that is; `first` and `events` say what was true once."""
    found, given = list[str](), spec
    once = {name: [policy] for name, policy in first.cast.policies_by_name().items()}
    added = set[str]()
    for event in events:
        if event["kind"] == "added":
            first = first.joined(event["mediator"], event["policy"], event["cost"], event["contact"])
            once[event["mediator"]] = [first.cast.policies_by_name()[event["mediator"]]]
            added.add(event["mediator"])
        elif event["kind"] == "declared":
            once[event["mediator"]].append(event["policy"])
        elif event["kind"] == "edited" and event["field"] in NAMES.values():
            first = first.edited(event["field"], event["new"])
            spec = _renamed(spec, now, event["field"], event["old"], event["new"])
            if event["field"] == "mediators":
                names = dict(zip(event["old"], event["new"], strict=True))
                once, added = {names[name]: rows for name, rows in once.items()}, {names[name] for name in added}
    found += [f"names of {field}" for field in NAMES.values() if getattr(spec, field) != getattr(given, field)]
    begun, lacking = now.mediators[: len(spec.mediators)], now.mediators[len(spec.mediators) :]
    policies = now.cast.policies_by_name()
    if lacking and begun == spec.mediators and added.issuperset(lacking):
        for e, name in enumerate(lacking, start=len(begun)):
            spec = spec.joined(name, policies[name], float(now.cast.costs[e]), now.contacts[e])
        found.append(f"mediator {some(lacking)}")
    for name, policy in spec.cast.policies_by_name().items() if spec.arms == now.arms else ():
        if name in policies and policy != policies[name] and policy in once.get(name, ()):
            spec = spec.declaring(name, policies[name])
            found.append(f"policy of {name!r}")
    return spec, found


def _renamed(spec: StudySpec, now: StudySpec, field: str, old: list[str], new: list[str]) -> StudySpec:
    """Names as they were called from then on, unless another thing is called so now."""
    names, present = list(getattr(spec, field)), getattr(now, field)
    for before, after in zip(old, new, strict=True):
        if before != after and before in names and before not in present and after not in names:
            names[names.index(before)] = after
    return spec if names == list(getattr(spec, field)) else spec.edited(field, names)
