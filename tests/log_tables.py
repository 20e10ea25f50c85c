"""Small logs with a known truth, written in every way that can be read, and a naive search for the first claim."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gobetween as gb
from gobetween.core.alarm.alarm import Alarm
from gobetween.core.evidence.eprocess import PRODUCT
from gobetween.core.evidence.rank_evidence import least_evidence, new_ranks
from gobetween.core.ground.tally import count, new_tally
from gobetween.logs.reading.counts import LogStats
from gobetween.logs.reading.history import checkpoints_of, claim_of
from gobetween.logs.reading.options import LogOptions
from gobetween.logs.reading.reading import Reading, accepted
from gobetween.logs.reading.sources import Source

POLICIES = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])


def table(rows: int, seed: int = 0, means: Any = (0.7, 0.5, 0.4), policies: Any = POLICIES) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    e = rng.integers(0, len(policies), rows)
    a = np.array([rng.choice(len(means), p=policies[i]) for i in e])
    x = (rng.random(rows) < np.array(means)[a]).astype(float)
    return {"mediator": [f"m{i}" for i in e], "arm": ["abc"[i] for i in a], "reward": x.tolist(), "at": list(range(rows))}


def of_kind(report: gb.LogReport, kind: str) -> list[Alarm]:
    return [alarm for alarm in report.alarms if alarm.kind == kind]


def count_logs(options: LogOptions, sources: Sequence[Source]) -> LogStats:
    """The statistics of logs together, names in order, with the claim that was found on the way."""
    reading = Reading(options)
    reading.read_all(sources)
    stats, history = accepted(reading.stats, options), reading.history
    if history is not None:
        stats.claim, stats.checkpoints = claim_of(options, stats, history), checkpoints_of(stats, history)
    return stats.in_order()


def write_csv(path: Path, columns: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def write_jsonl(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(path: Path, columns: dict[str, list[Any]]) -> Path:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path)
    return path


def naive_claim(columns: dict[str, list[Any]], delta: float) -> tuple[str, int] | None:
    """Row by row, with the whole e-process at every row, once every arm of the log has been seen."""
    arms = sorted(set(columns["arm"]))
    tally, K = new_tally(len(arms)), len(arms)
    ranks = new_ranks(K, PRODUCT)
    for i, (arm, x) in enumerate(zip(columns["arm"], columns["reward"], strict=True)):
        count(tally, arms.index(arm), x)
        if tally.N_a.all():
            best = int(np.argmax(tally.mu_hat))
            rivals = [b for b in range(K) if b != best and tally.mu_hat[b] < tally.mu_hat[best]]
            limit = float(-np.log(delta))
            if len(rivals) == K - 1 and least_evidence(gb.Bernoulli(), tally, ranks, best, limit) >= limit:
                return arms[best], i + 1
    return None
