"""Alarms about how much rewards vary, for families whose mean says it, at full size: writes docs/validity-spread.md."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from page import write
from spread_streams import until_raised

import gobetween as gb
from gobetween.simulation.summary import exact_interval

LEVEL = 0.01
WORLDS: tuple[tuple[gb.Family, tuple[float, ...]], ...] = (
    (gb.Binomial(20), (4.0, 10.0)),
    (gb.Geometric(), (1.5, 8.0)),
    (gb.NegativeBinomial(1.5), (0.5, 5.0)),
    (gb.Gamma(2.0), (1.0,)),
    (gb.Gamma(0.5), (1.0,)),
    (gb.Exponential(), (1.0,)),
)


def called(family: gb.Family) -> str:
    said = ", ".join(f"{value:g}" for value in family.parameters().values())
    return f"{family.name}({said})" if said else family.name


def false_alarms(streams: int = 20_000) -> list[str]:
    """How often the alarm is raised where all is as declared."""
    looks = np.unique(np.geomspace(2, 1000, 40).astype(np.int64))
    lines = ["| family | means | streams | raised | at most (95%, exact) |", "|" + "---|" * 5]
    for family, means in WORLDS:
        for mean in means:
            raised = int((until_raised(family, mean, 1.0, streams, looks, LEVEL) > 0).sum())
            high = exact_interval(raised, streams)[1]
            assert high <= LEVEL, (family, mean, raised)
            first = 1.0 if family.name == "geometric" else 0.0
            shown = f"{mean:g} and {first + (mean - first) / 2:g}"
            lines.append(f"| {called(family)} | {shown} | {streams:,} | {raised} | {high:.2%} |")
            print(lines[-1], flush=True)
    return lines


def delays(streams: int = 400, most: int = 6000) -> list[str]:
    """Rows until it is raised where rewards vary more."""
    looks = np.unique(np.append(np.arange(1, 400), np.geomspace(400, most, 200).astype(np.int64)))
    lines = ["| family | mean | " + " | ".join(f"{ratio:g} times" for ratio in (4.0, 2.0, 1.5)) + " |", "|" + "---|" * 5]
    for family, means in WORLDS:
        for mean in means:
            cells = []
            for ratio in (4.0, 2.0, 1.5):
                rows = np.where((found := until_raised(family, mean, ratio, streams, looks, LEVEL)) > 0, found, np.inf)
                median, late = np.quantile(rows, [0.5, 0.95], method="higher")
                cells.append(f"{median:,.0f} ({late:,.0f})" if late < np.inf else f"{median:,.0f} (over {most:,})")
            lines.append(f"| {called(family)} | {mean:g} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    write(
        "validity-spread.md",
        "alarms about how much rewards vary",
        "## False alarms at level 0.01",
        "",
        "Two arms pulled by chance, 1,000 rewards that are as declared, looked at 40 times (`python validity/spread.py`).",
        "",
        *false_alarms(),
        "",
        "## Rows until it is raised",
        "",
        "The variance is so many times what the mean says: gamma rewards of a smaller shape, negative binomial counts of a",
        "smaller r, beta-binomial counts. Rows of both arms together: the median, and in brackets what 95 of 100 streams",
        "need at most.",
        "",
        *delays(),
    )


if __name__ == "__main__":
    main()
