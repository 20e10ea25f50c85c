"""`gobetween demo`: a study played by simulated mediators, with the real store, learner and verdict."""

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from gobetween.cli.plugins import ready
from gobetween.export import numbered

if TYPE_CHECKING:
    import numpy as np

    from gobetween.study.study import Study

ARMS = ("letter", "text message", "phone call")
MEANS = (0.3, 0.65, 0.35)
POLICIES = {"North": (0.9, 0.05, 0.05), "South": (0.1, 0.5, 0.4), "Hill": (0.9, 0.1, 0.0), "Lake": (0.95, 0.0, 0.05)}
UNIFORM_RUNS = 40


@click.command("demo")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, another story.")
@click.option("--delta", type=float, default=0.05, show_default=True, help="Risk of a wrong answer.")
def command(seed: int, delta: float) -> None:
    """Which reminder makes patients come? Four clinics choose the reminder; we choose the clinic."""
    ready(plain=True)
    import numpy as np

    from gobetween.core.problem.problem import Problem
    from gobetween.core.sampling.rules import UniformSampling
    from gobetween.simulation.engine import simulate
    from gobetween.study.spec.spec import parse_study
    from gobetween.study.study import Study

    spec = parse_study(
        {
            "title": "demo",
            "family": "bernoulli",
            "delta": delta,
            "seed": seed,
            "arms": [{"name": name} for name in ARMS],
            "mediators": [{"name": name, "policy": list(row)} for name, row in POLICIES.items()],
        },
        "demo",
    )
    click.echo("Three reminders, four clinics. Each clinic picks the reminder by habits of its own; we pick the clinic.")
    with TemporaryDirectory() as folder, Study.create(f"{folder}/demo.sqlite", spec) as study:
        asked = _played(study, np.random.default_rng(seed))
        status = study.status()
    click.echo(f"\nAfter {numbered(asked, 'query', 'queries')}: {status.sentence}")
    for arm in status.arms:
        times = "time, " if arm["pulls"] == 1 else "times,"
        click.echo(f"  {arm['arm']:13s} {arm['pulls']:4d} {times} estimate {arm['estimate']:.2f}")
    problem = Problem(MEANS, list(POLICIES.values()), family=spec.design.family)
    uniform = float(simulate(problem, UniformSampling(), deltas=delta, runs=UNIFORM_RUNS, seed=seed, workers=1).tau.mean())
    click.echo(
        f"\nAsking the clinics at random takes {uniform:,.0f} queries on average ({UNIFORM_RUNS} simulated studies): "
        + (f"this one saved {1 - asked / uniform:.0%}." if asked < uniform else "this one was unlucky and took more.")
    )
    click.echo("Your own study: gobetween init")


def _played(study: "Study", rng: "np.random.Generator") -> int:
    """Ask until it stops; returns how many were asked."""
    receipt, asked = None, 0
    while receipt is None or receipt.stopped is None:
        (query,) = study.ask()
        a = int(rng.choice(len(ARMS), p=POLICIES[query.mediator]))
        came = int(rng.random() < MEANS[a])
        receipt = study.tell(query, arm=ARMS[a], reward=came)
        asked += 1
        if asked <= 5 or (asked & (asked - 1)) == 0:
            words = "the patient came" if came else "the patient did not come"
            click.echo(f"  query {asked}: {query.mediator} used a {ARMS[a]}, {words}")
    return asked
