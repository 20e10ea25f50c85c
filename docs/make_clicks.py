"""The click log of docs/tutorial-logs.md: `python docs/make_clicks.py` writes clicks.csv.

Eighty items are shown by two policies, each at three positions. People click more at the first position, whatever stands
there, and the policy "ranked" puts what it likes there more often. On day 15 item-17 gets a new picture, and more clicks.
"""

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np

ITEMS, DAYS, NEW_PICTURE = 80, 30, 15
SEEN = np.array([1.0, 0.6, 0.35])  # of what is shown at each position


def clicks(rows: int = 150_000, seed: int = 7) -> dict[str, list[Any]]:
    """The log as columns, in the order in which it was collected."""
    rng = np.random.default_rng(seed)
    appeal = rng.beta(2.0, 20.0, ITEMS)
    appeal[[3, 17, 42]] = 0.36, 0.12, 0.30
    day = np.sort(rng.integers(1, DAYS + 1, rows))
    ranked = rng.random(rows) < 0.5
    liked = rng.dirichlet(np.where(appeal > np.quantile(appeal, 0.8), 3.0, 1.0))
    item = np.where(ranked, rng.choice(ITEMS, rows, p=liked), rng.integers(0, ITEMS, rows))
    position = np.where(ranked & (rng.random(rows) < 0.7), 0, rng.integers(0, 3, rows))
    rate = np.where((item == 17) & (day >= NEW_PICTURE), 0.34, appeal[item])
    clicked = rng.random(rows) < rate * SEEN[position]
    return {
        "day": day.tolist(),
        "policy": np.where(ranked, "ranked", "uniform").tolist(),
        "position": (position + 1).tolist(),
        "item": [f"item-{i:02}" for i in item.tolist()],
        "click": clicked.astype(int).tolist(),
    }


def main(path: str = "clicks.csv") -> None:
    """Write the log as CSV."""
    columns = clicks()
    with Path(path).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
