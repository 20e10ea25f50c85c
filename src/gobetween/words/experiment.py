"""What an experiment says: which rules need least, how often they are wrong, and how to read its tables."""

import math
from collections.abc import Sequence

from gobetween.export import numbered, shortened
from gobetween.simulation.comparison import Comparison, Difference
from gobetween.simulation.results import Results
from gobetween.words.numbers import amount, chance, percent
from gobetween.words.verdict import family_words

PAIRED = (
    "Differences and ratios are of pairs of runs that share random numbers; ±: 95% intervals, by Student's t. "
    "If the interval of a difference holds 0, or that of a ratio holds 1, either rule may need less."
)
EXACT = "± and ≤: 95% intervals, of wrong answers exact (Clopper–Pearson)."
TIMES = "Dots: means. Bands: 80% of the runs, and the middle half. Marks: the lower bound on the mean."
RATIOS = "Left of the dotted line rules need fewer queries than the baseline. Bars: 95% intervals."


def cheapest(results: Results) -> dict[str, tuple[str, float]]:
    """Problem → the rules with the least mean cost at the smallest risk, and that cost."""
    found: dict[str, tuple[str, float]] = {}
    for cell in results.cells:
        cost = cell.runs.summary()[-1].cost
        if cell.problem not in found or cost < found[cell.problem][1]:
            found[cell.problem] = cell.runs.rules, cost
    return found


def experiment_headline(results: Results) -> str:
    """Which rules need least."""
    best = cheapest(results)
    names = [rules for rules, _ in best.values()]
    first = max(names, key=names.count)
    if len({cell.name[1:] for cell in results.cells}) == 1:
        return f"{first}: {_needs(results, next(iter(best.values()))[1])}"
    where = "" if len(best) == 1 else f" ({names.count(first)} of {len(best)} problems)"
    return f"{'Least cost' if unit(results) == 'cost' else 'Fewest queries'}: {first}{where}"


def _needs(results: Results, cost: float) -> str:
    return f"{amount(cost)} {unit(results)} on average for a risk of {chance(results.cells[0].runs.deltas[-1])}"


def unit(results: Results) -> str:
    """What is spent."""
    return "cost" if any(cell.runs.played.costs is not None for cell in results.cells) else "queries"


def experiment_texts(results: Results) -> list[str]:
    """What was run."""
    counts = [len(cell.numbers) for cell in results.cells]
    least, most = min(counts), max(counts)
    runs = numbered(most, "run") if least == most else f"{least:,} to {numbered(most, 'run')}"
    families = {cell.problem: family_words(cell.runs.played.family) for cell in results.cells}
    rewards = shortened([f"{name} ({words})" for name, words in families.items()], 4)
    return [f"{numbered(len(counts), 'cell')}, {runs} of each, seed {results.seed}. Rewards of {rewards}."]


def experiment_tiles(results: Results, comparison: Comparison) -> list[tuple[str, str, str, str]]:
    """Name, value, note and tone of what is to be seen first."""
    problem, (rules, cost) = next(iter(cheapest(results).items()))
    delta = results.cells[0].runs.deltas[-1]
    tiles = [(f"Least {unit(results)}", amount(cost), f"{rules}; on {problem}, for a risk of {chance(delta)}", "")]
    best = min((row for row in comparison.differences if row.delta == delta), key=lambda row: row.cost.ratio, default=None)
    if best is not None:
        tiles.append(("Beside the baseline", _change(best), f"the best other: {best.rules} on {best.problem}", ""))
    summaries = [row for cell in results.cells for row in cell.runs.summary()]
    worst, many = max(summaries, key=lambda row: row.wrong / row.delta), any(row.wrong_low > row.delta for row in summaries)
    note = f"the most beside its risk of {chance(worst.delta)}"
    tiles.append(("Wrong answers", percent(worst.wrong), note, "bad" if many else ""))
    return tiles


def _change(row: Difference) -> str:
    half = row.cost.ratio_half_width
    spread = f" ± {percent(half)}" if math.isfinite(half) and half else ""
    return f"{'+' if row.cost.ratio > 1.0 else '−'}{percent(abs(row.cost.ratio - 1.0))}{spread}"


def paired_words(differences: Sequence[Difference]) -> str:
    """How to read a comparison."""
    censored = sum(row.censored for row in differences)
    cut = f" In {numbered(censored, 'pair')} a run had not stopped: it counts as long as it lasted." if censored else ""
    return PAIRED + cut
