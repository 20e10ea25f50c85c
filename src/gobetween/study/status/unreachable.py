"""Arms of which nothing more can be learnt: only mediators who are away reach them."""

from dataclasses import dataclass

import numpy as np

from gobetween.study.journal.state import StudyState


@dataclass(frozen=True)
class OutOfReach:
    """Arms that the same mediators reach, and no others."""

    mediators: tuple[str, ...]
    arms: tuple[str, ...]
    sure: bool  # do these mediators reach them, as far as their policies are known?
    retired: bool  # have they left for ever?
    seen: bool  # has every one of the arms been pulled?


def out_of_reach(state: StudyState) -> list[OutOfReach]:
    """Arms that only mediators who are away reach; an unknown policy may reach all."""
    if state.stopped is not None:
        return []
    open_ = {query.mediator for query in state.open.values()}  # whose answers may still come
    rows, arms = dict(zip(state.spec.mediators, state.spec.cast.policies, strict=True)), dict[tuple[str, ...], list[str]]()
    for a, arm in enumerate(state.spec.arms):
        reaching = tuple(name for name, row in rows.items() if row[a] != 0.0)
        gone = reaching and not open_.intersection(reaching) and set(reaching) <= set(state.away)
        if gone and arm not in state.retired_arms:
            arms.setdefault(reaching, []).append(arm)
    pulled = {arm.arm for arm in state.learner.progress.arms if arm.pulls} if arms else set()
    return [
        OutOfReach(
            mediators,
            tuple(group),
            sure=not any(np.isnan(rows[name]).any() for name in mediators),
            retired=set(mediators) <= set(state.retired),
            seen=pulled.issuperset(group),
        )
        for mediators, group in arms.items()
    ]
