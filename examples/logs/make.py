"""Makes the small logs beside it: the same three clinics' reminders, written in the ways in which logs come."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
ARMS = ("letter", "text message", "call")
MEANS = (0.35, 0.7, 0.3)
POLICIES = {"North": (0.6, 0.2, 0.2), "South": (0.2, 0.5, 0.3), "West": (0.2, 0.2, 0.6)}
SPELLINGS = {"letter": ("letter", "Letter ", "LETTER"), "call": ("call", "phone", "call")}

Table = list[dict[str, Any]]


def drawn(number: int = 360) -> Table:
    """Reminders that were sent, and whether someone came."""
    rng, found = np.random.default_rng(8), []
    for i in range(number):
        clinic = list(POLICIES)[rng.integers(0, 3)]
        a = int(rng.choice(3, p=POLICIES[clinic]))
        came = int(rng.random() < MEANS[a])
        row = {"key": i, "at": i, "clinic": clinic, "what": ARMS[a], "came": came}
        found.append(row | {"position": 1 + i % 2, "p": POLICIES[clinic][a]})
    return found


def spelled(log: Table) -> Table:
    """As three people would write it."""
    return [
        {**row, "what": SPELLINGS.get(row["what"], (row["what"],) * 3)[i % 3], "came": "yes" if row["came"] else "no"}
        for i, row in enumerate(log)
    ]


def in_minutes(log: Table) -> Table:
    """Minutes that were saved, with a decimal comma and points between thousands."""
    saved = [f"{1000 + 400 * row['came'] + 7.5 * (i % 9):,.1f}" for i, row in enumerate(log)]
    other = str.maketrans(",.", ".,")
    return [
        {"clinic": row["clinic"], "what": row["what"], "saved": text.translate(other)}
        for row, text in zip(log, saved, strict=True)
    ]


def totals(log: Table) -> Table:
    """How many were sent, and how many came."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in log:
        one = found.setdefault((row["clinic"], row["what"]), [0, 0])
        one[0], one[1] = one[0] + 1, one[1] + row["came"]
    return [{"clinic": clinic, "what": what, "sent": n, "came": k} for (clinic, what), (n, k) in sorted(found.items())]


def write(path: Path, table: Table, separator: str = ",") -> None:
    """A table as a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(table[0]), delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def main() -> None:
    """All files."""
    log = drawn()
    for clinic in POLICIES:  # overlapping in time, in folders that say the clinic
        part = [{key: value for key, value in row.items() if key != "clinic"} for row in log if row["clinic"] == clinic]
        write(FOLDER / "by-clinic" / f"clinic={clinic}" / "part.csv", part)
    lines = [json.dumps({"clinic": row["clinic"], "what": row["what"], "came": row["came"] == 1}) for row in log]
    (FOLDER / "packed.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    write(FOLDER / "twice.csv", [*log, *log[:3]])
    write(FOLDER / "messy.csv", spelled(log), ";")
    write(FOLDER / "minutes.csv", in_minutes(log), ";")
    write(FOLDER / "totals.csv", totals(log))
    (FOLDER / "names.csv").write_text("old,new\nphone,call\n", encoding="utf-8")


if __name__ == "__main__":
    main()
