"""Sampling rules × stopping rules on the instances of instances.py: writes docs/rules.md and docs/gap.svg.

    python benchmarks/rule_pairs.py                            # the full run: meant to take under 20 minutes on two idle cores
    python benchmarks/rule_pairs.py --seconds 0.05 --least 16  # a small one
    python benchmarks/rule_pairs.py --keep cells.jsonl         # cells that are there already are not run again

One path serves every δ. How many runs a cell gets follows from T*, K and E: about so many seconds of work.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from instances import instances

import gobetween as gb
from gobetween.core.bound.lower_bound import binary_kl
from gobetween.simulation.summary import exact_interval

DOCS = Path(__file__).parent.parent / "docs"
DELTAS = (0.4, 0.1, 0.01, 0.001)
SEED, MOST, HORIZON = 2026, 4000, 1_000_000
SAMPLING: Mapping[str, gb.SamplingRule] = {
    "Pursuit": gb.Pursuit(),
    "Tracking C": gb.Tracking(),
    "Tracking D": gb.Tracking(tracking="D"),
    "FrankWolfe": gb.FrankWolfe(),
    "Game": gb.Game(),
    "BoxTracking": gb.BoxTracking(),
    "Uniform": gb.UniformSampling(),
    "Oracle": gb.Oracle(),
}
STOPPING: Mapping[str, gb.StoppingRule | str] = {
    "e-process": gb.EProcess(),
    "ranks only": gb.EProcess(contrast=0.0),
    "pairs": "pairs",
    "kaufmann-koolen": gb.GLR(rate="kaufmann-koolen"),
    "paper": gb.GLR(),
}
PROVEN = ("e-process", "ranks only", "pairs", "kaufmann-koolen")
DEFAULT, PAPERS = ("Pursuit", "e-process"), ("Tracking C", "paper")
SHOWN = ("Table 1", "near tie 1, 0.85, 0.5, 0.3", "Dirichlet, K = E = 20")


class Cell(NamedTuple):
    """One pair of rules on one instance: for each δ the mean cost (queries, where they cost 1), its standard error, and how
    many runs gave a wrong answer or none.
    """

    instance: str
    sampling: str
    stopping: str
    runs: int
    mean: list[float]
    error: list[float]
    wrong: list[int]
    censored: list[int]


Cells = dict[tuple[str, str, str], Cell]


def runs_for(problem: gb.Problem, seconds: float, least: int) -> int:
    """So many runs take about so many seconds: a path of 2 ln(1000) T* queries, each ½ µs (4 µs where mixtures have no closed
    form) and 10 ns for every entry of π.
    """
    path = 2.0 * math.log(1.0 / DELTAS[-1]) * gb.lower_bound(problem).T_star
    step = (0.5 if problem.family.sub_gaussian else 4.0) + 0.01 * problem.K * problem.E
    return int(np.clip(seconds * 1e6 / (path * step), least, MOST))


def measure(name: str, problem: gb.Problem, sampling: str, stopping: str, runs: int) -> Cell:
    """Run one cell; a rule that is proven must not be wrong more often than it says."""
    found = gb.simulate(problem, SAMPLING[sampling], STOPPING[stopping], DELTAS, runs, SEED, max_steps=HORIZON)
    spent = (found.N_e * problem.query_costs).sum(axis=2)
    wrong = (~found.correct & ~found.censored).sum(axis=0)
    for count, delta in zip(wrong, DELTAS, strict=True):
        low = exact_interval(int(count), runs, 1.0 - 1e-6)[0]
        assert low <= delta or not is_proven(stopping, problem), (name, sampling, stopping)
    error = spent.std(axis=0, ddof=1) / math.sqrt(runs)
    return Cell(
        name, sampling, stopping, runs, spent.mean(axis=0).tolist(), error.tolist(), wrong.tolist(),
        found.censored.sum(axis=0).tolist(),
    )  # fmt: skip


def measure_all(problems: Mapping[str, gb.Problem], seconds: float, least: int, keep: Path | None) -> Cells:
    """All cells, those that were kept included."""
    kept = keep.read_text(encoding="utf-8").splitlines() if keep and keep.exists() else []
    cells = {(cell.instance, cell.sampling, cell.stopping): cell for cell in (Cell(*json.loads(line)) for line in kept)}
    for name, problem in problems.items():
        start, runs = time.process_time(), runs_for(problem, seconds, least)
        for sampling in SAMPLING:
            for stopping in STOPPING:
                key = name, sampling, stopping
                if key not in cells or cells[key].runs != runs:
                    cells[key] = measure(name, problem, sampling, stopping, runs)
                    if keep:
                        with keep.open("a", encoding="utf-8") as stream:
                            stream.write(json.dumps(cells[key]) + "\n")
        print(f"{name}: {runs} runs a cell, {time.process_time() - start:.0f} s of work", file=sys.stderr)
    return cells


# what is said of them -----------------------------------------------------------------------------------------------------


def is_proven(stopping: str, problem: gb.Problem) -> bool:
    """Is the rule proven for these rewards? Kaufmann and Koolen's thresholds are for exponential families."""
    return stopping in PROVEN and not (stopping == "kaufmann-koolen" and isinstance(problem.family, gb.Bounded))


def best_proven(cells: Cells, name: str, problem: gb.Problem, d: int) -> Cell:
    """The proven pair that needs least; Oracle is none, because nobody knows ω*."""
    rules = [stopping for stopping in STOPPING if is_proven(stopping, problem)]
    pairs = [(sampling, stopping) for sampling in SAMPLING if sampling != "Oracle" for stopping in rules]
    return min((cells[name, *pair] for pair in pairs), key=lambda cell: cell.mean[d])


def ratio(one: Cell, other: Cell, d: int) -> tuple[float, float]:
    """Mean of one over mean of the other, and its standard error (0 for a cell against itself)."""
    value = one.mean[d] / other.mean[d]
    if one == other:
        return 1.0, 0.0
    return value, value * math.hypot(one.error[d] / one.mean[d], other.error[d] / other.mean[d])


def summary(cells: Cells, problems: Mapping[str, gb.Problem]) -> Iterator[str]:
    """For each instance the best proven pair, and how far the default is from it and from the paper's pair."""
    yield "| instance | K, E | T\\* | δ | best proven | its mean | default | default/best | paper's pair | default/paper's |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, problem in problems.items():
        for d, delta in enumerate(DELTAS):
            best, ours, paper = best_proven(cells, name, problem, d), cells[name, *DEFAULT], cells[name, *PAPERS]
            beside, error = ratio(ours, best, d)
            against, other = ratio(ours, paper, d)
            head = f"{name} | {problem.K}, {problem.E} | {gb.lower_bound(problem).T_star:,.4g}" if d == 0 else " | | "
            yield (
                f"| {head} | {delta:g} | {best.sampling} + {best.stopping} | {number(best, d)} | {number(ours, d)} | "
                f"{beside:.3f} ± {error:.3f} | {number(paper, d)} | {against:.3f} ± {other:.3f} |"
            )


def number(cell: Cell, d: int) -> str:
    """A mean with its standard error; "over" where some runs had not stopped."""
    return f"{'over ' if cell.censored[d] else ''}{cell.mean[d]:,.0f} ± {cell.error[d]:,.{0 if cell.error[d] >= 9.5 else 1}f}"


def verdicts(cells: Cells, problems: Mapping[str, gb.Problem]) -> Iterator[str]:
    """How often the default is within 3% of the best, and where it is not."""
    places = [(name, d) for name in problems for d in range(len(DELTAS))]
    for what, limit, other in (
        ("within 3% of the best proven pair", 1.03, best_proven),
        ("not above the paper's pair", 1.0, lambda cells, name, problem, d: cells[name, *PAPERS]),
    ):
        ratios = {(name, d): ratio(cells[name, *DEFAULT], other(cells, name, problems[name], d), d) for name, d in places}
        off = {place: r for place, r in ratios.items() if r[0] > limit}
        far = {place: r for place, r in off.items() if r[0] - 2.0 * r[1] > limit}
        yield (
            f"- The default (Pursuit + e-process) is {what} in {len(places) - len(off)} of {len(places)} places; in "
            f"{len(far)} of the others this is more than two standard errors{': ' if far else '.'}"
            + ", ".join(f"{name} at δ = {DELTAS[d]:g} ({r[0]:.2f} ± {r[1]:.2f})" for (name, d), r in far.items())
        )
        errors = [error for _, error in ratios.values() if error > 0.0] or [0.0]
        low, middle, high = min(errors), float(np.median(errors)), max(errors)
        yield f"  These ratios have standard errors of {low:.1%} to {high:.1%}, half of them above {middle:.1%}."


def table(cells: Cells, name: str) -> Iterator[str]:
    """Every pair on one instance: mean ± standard error for each δ."""
    yield "| sampling | stopping | " + " | ".join(f"δ = {delta:g}" for delta in DELTAS) + " |"
    yield "|---|---|" + "---|" * len(DELTAS)
    for sampling in SAMPLING:
        for stopping in STOPPING:
            cell = cells[name, sampling, stopping]
            yield f"| {sampling} | {stopping} | " + " | ".join(number(cell, d) for d in range(len(DELTAS))) + " |"


# the gap to the bound -----------------------------------------------------------------------------------------------------


def parts(cells: Cells, name: str, problem: gb.Problem, d: int) -> dict[str, float]:
    """What adds up between the lower bound and what is needed, at the d-th δ."""
    T_star = gb.lower_bound(problem).T_star
    return {
        "bound kl(δ, 1−δ)·T*": binary_kl(DELTAS[d]) * T_star,
        "ln(1/δ)·T*": -math.log(DELTAS[d]) * T_star,
        "ω* known, e-process: Ville and priors": cells[name, "Oracle", "e-process"].mean[d],
        "ω* known, ranks without contrasts": cells[name, "Oracle", "ranks only"].mean[d],
        "ω* known, K − 1 instead of ranks": cells[name, "Oracle", "pairs"].mean[d],
        "ω* learnt, e-process: the default": cells[name, *DEFAULT].mean[d],
    }


def gaps(cells: Cells, problems: Mapping[str, gb.Problem]) -> Iterator[str]:
    """The parts as a table."""
    rows = {(name, d): parts(cells, name, problems[name], d) for name in SHOWN if name in problems for d in (1, 3)}
    yield "| | " + " | ".join(f"{name}, δ = {DELTAS[d]:g}" for name, d in rows) + " |"
    yield "|---|" + "---|" * len(rows)
    for part in next(iter(rows.values()), {}):
        yield f"| {part.replace('*', chr(92) + '*')} | " + " | ".join(f"{row[part]:,.0f}" for row in rows.values()) + " |"


def picture(cells: Cells, problems: Mapping[str, gb.Problem]) -> str:
    """The parts as bars in SVG, readable in grey: each group is one instance and δ, on a scale of its own default."""
    width, left, line, room = 760, 290, 20, 420
    lines: list[str] = []
    y = 10
    for name in (name for name in SHOWN if name in problems):
        for d in (1, 3):
            y += 24
            lines.append(f'<text x="10" y="{y}" font-weight="bold">{name}, δ = {DELTAS[d]:g}</text>')
            found = parts(cells, name, problems[name], d)
            for (part, value), tone in zip(found.items(), ("#111", "#555", "#888", "#aaa", "#ddd", "#fff"), strict=True):
                y += line
                long = (room - 60) * value / max(found.values())
                lines.append(f'<text x="{left - 8}" y="{y}" text-anchor="end">{part}</text>')
                lines.append(f'<rect x="{left}" y="{y - 12}" width="{long:.1f}" height="15" fill="{tone}" stroke="#111"/>')
                lines.append(f'<text x="{left + long + 6:.1f}" y="{y}">{value:,.0f}</text>')
            y += 10
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 10}" font-family="sans-serif" font-size="13">'
    return "\n".join([head, f'<rect width="{width}" height="{y + 10}" fill="white"/>', *lines, "</svg>"])


def page(cells: Cells, problems: Mapping[str, gb.Problem], options: str) -> list[str]:
    """docs/rules.md."""
    runs = [cells[name, *DEFAULT].runs for name in problems]
    lines = [
        "# Rules compared",
        "",
        f"Written by `python benchmarks/rule_pairs.py {options}`; `make rules` makes the full run. Instances:",
        f"`benchmarks/instances.py`. Mean queries (with costs: cost) ± standard error, {min(runs):,} to {max(runs):,} runs",
        f"in each cell, seed {SEED}, the same settings everywhere. Runs end after {HORIZON:,} queries; means of which some did",
        "are said to be *over*.",
        "",
        "Stopping: *e-process* is `gb.EProcess()`, *ranks only* has `contrast=0`, *pairs* is the union over K − 1 rivals, and",
        "*kaufmann-koolen* is `gb.GLR(rate='kaufmann-koolen')`: these four are proven, the last not for Bounded rewards.",
        "*paper* is `gb.GLR()`, which is not. BoxTracking (arms in boxes, Reddy and others 2023) is made from a description.",
        "The default is Pursuit + e-process, the paper's pair is Tracking C + paper. Oracle follows the true ω\\* and is",
        "no candidate. The best pair is chosen by the numbers that are shown, so that it looks a little better than it is.",
        "",
        *verdicts(cells, problems),
        "",
        *summary(cells, problems),
        "",
        "## Where queries go",
        "",
        "What is added, step by step, to the lower bound. *ω\\* known* are fixed shares, by Oracle; a rule that learns ω can",
        "need less than these.",
        "",
        *gaps(cells, problems),
        "",
        "![From the lower bound to what is needed](gap.svg)",
    ]  # fmt: skip
    for name in problems:
        lines += ["", f"## {name}", "", *table(cells, name)]
    return lines


def main() -> None:
    """Run all and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of work for each of 840 cells, within a factor of two")
    parser.add_argument("--least", type=int, default=64, help="runs of a cell")
    parser.add_argument("--keep", type=Path, help="a file of cells, read and added to")
    parser.add_argument("--only", help="instances whose name holds this word; prints the page instead of writing it")
    arguments = parser.parse_args()
    problems = {name: problem for name, problem in instances().items() if not arguments.only or arguments.only in name}
    cells = measure_all(problems, arguments.seconds, arguments.least, arguments.keep)
    text = "\n".join([*page(cells, problems, f"--seconds {arguments.seconds:g} --least {arguments.least}"), ""])
    if arguments.only:
        print(text)
        return
    (DOCS / "rules.md").write_text(text, encoding="utf-8")
    (DOCS / "gap.svg").write_text(picture(cells, problems) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
