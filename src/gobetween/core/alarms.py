"""Alarms about the world, as e-values: whenever one looks, a false alarm at level α has probability at most α.

CHECKS lists them, a file each; learner, study and log raise whatever stands there.
"""

from collections.abc import Callable
from dataclasses import replace

from gobetween.core.acting import policy
from gobetween.core.alarm import Alarm, Facts
from gobetween.core.confounding import confounding
from gobetween.core.contradiction import contradiction
from gobetween.core.drifting import drift, policy_drift
from gobetween.core.scale import scale

#: What is watched; of several alarms the first one that breaks the guarantee is the headline.
CHECKS: tuple[Callable[[Facts], list[Alarm]], ...] = (scale, contradiction, drift, confounding, policy, policy_drift)


def alarms_of(facts: Facts) -> tuple[Alarm, ...]:
    """All alarms, raised or not."""
    return tuple(alarm for check in CHECKS for alarm in check(facts))


def broken_by(facts: Facts) -> Alarm | None:
    """The first alarm that is raised and breaks the guarantee; others are not even looked at."""
    facts = replace(facts, visible=False, hasty=True)
    for check in CHECKS:
        for alarm in check(facts) if check not in (policy, policy_drift) else ():
            if alarm.raised and alarm.breaks:
                return alarm
    return None
