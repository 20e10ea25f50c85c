"""Numbers, ranges and times as people write them."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gobetween.core.reward.family import Family


def about(x: float) -> str:
    """Two digits of a number."""
    return f"{float(f'{x:.2g}'):,g}"


def rough(queries: float) -> int:
    """Two digits, which is more than is known."""
    return math.ceil(queries) if queries < 100.0 else int(float(f"{queries:.2g}"))


def between(low: float, high: float) -> str:
    """The range of a forecast."""
    if math.isinf(high):
        return f"90% likely at least {rough(low):,}"
    return f"80% range: {rough(low):,}–{rough(high):,}"


def chance(p: float) -> str:
    """A small chance: 5%, 0.1%, or 1 in 1,000,000."""
    return f"{100.0 * p:.12g}%" if p >= 1e-4 else f"1 in {float(f'{1.0 / p:.6g}'):,.0f}"


def at_most(delta: float) -> str:
    """The risk of an answer."""
    return f"wrong with probability at most {chance(delta)}"


def at_least(delta: float) -> str:
    """How sure an answer is."""
    return f"with probability at least {certainty(delta)}"


def certainty(delta: float) -> str:
    """All but a risk: 95%, 99.9999%."""
    return f"{100.0 - 100.0 * delta:.14g}%"


def p_value_words(p: float, what: str) -> str:
    """A p-value, and what it is not."""
    return f"p = {p:.2g} (valid at any time; not the probability that {what})"


def moment(at: float, utc: bool = False) -> str:
    """A time with its zone: that of the reader, or UTC."""
    try:
        when = datetime.fromtimestamp(at, UTC)
        return f"{when if utc else when.astimezone():%Y-%m-%d %H:%M:%S %Z}"
    except (OverflowError, OSError, ValueError):  # a clock that was far off
        return f"{at:.0f} s after 1970"


def duration(seconds: float) -> str:
    """A length of time in its largest unit."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def time_between(low: float, high: float | None) -> str:
    """A range of times: 1–12 min, 50 s–3 min, at least 2 days."""
    first, last = _short(low), _short(low if high is None else high)
    if high is None:
        return f"at least {first}"
    return first if first == last else f"{first.split()[0] if first.split()[1] == last.split()[1] else first}–{last}"


def _short(seconds: float) -> str:
    number, unit = duration(seconds).split()
    return f"{float(number):,.0f} {unit}" if float(number) >= 9.95 else f"{float(number):g} {unit}"


def exact(x: float) -> str:
    """A number that is known, such as a cost: whole, or with two decimals."""
    return f"{x:,.0f}" if x == round(x) else f"{x:,.2f}"


def amount(x: float) -> str:
    """Three digits of a number as people write it: 0.0214, 7.5, 918, 12,300; never with an exponent."""
    if not (math.isfinite(x) and x):
        return "0" if x == 0.0 else "∞" if x > 0.0 else "−∞" if x < 0.0 else "?"
    digits = min(9, max(0, 2 - math.floor(math.log10(abs(x)))))
    text = f"{float(f'{x:.3g}'):,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """A share or a chance: 70%, 0.4%, 99.5%; under 0.1% only that it is less."""
    least = 100.0 * min(share, 1.0 - share)
    if 0.0 < least < 0.1 - 1e-9:
        return "<0.1%" if share < 0.5 else ">99.9%"
    digits = 0 if least <= 0.0 else max(0, -math.floor(math.log10(least)))
    text = f"{100.0 * share:.{min(9, digits)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def due_words(seconds: float) -> str:
    """For how long an answer is waited for."""
    if seconds <= 0.0:
        return "It is overdue, and still welcome."
    left = ago(seconds).removesuffix(" ago")
    return f"Please answer within {'a minute' if left == 'just now' else left}."


def means_of(family: "Family") -> Callable[[float], str]:
    """How means are written in tables, in three digits: those of rewards 0 and 1 as percent, 26.3% or 0.463%."""
    return rate if tuple(family.choices) == (0.0, 1.0) else amount


def rate(share: float) -> str:
    """A share in three digits."""
    return f"{amount(100.0 * share)}%"


def ago(seconds: float) -> str:
    """How long ago something was, roughly."""
    for size, unit in ((86400.0, "day"), (3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            number = math.floor(seconds / size)
            return f"{number:,} {unit}{'s' if unit == 'day' and number > 1 else ''} ago"
    return "just now"
