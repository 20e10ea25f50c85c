"""How an experiment is run: the family of rewards, the question, the risk δ, the rules, the seed and the order of counting; and
the same JSON-safe, as studies and saved learners keep it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gobetween.core.bound.lower_bound import binary_kl
from gobetween.core.ground.value import is_number
from gobetween.core.question.question import Question, as_question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.families import DEFAULT
from gobetween.core.reward.family import Family, as_family
from gobetween.core.sampling.rules import Pursuit
from gobetween.core.sampling.sampling_rule import SamplingRule, as_sampling
from gobetween.core.stopping.rules import EProcess
from gobetween.core.stopping.stopping_rule import StoppingRule, as_stopping
from gobetween.errors import ProblemError
from gobetween.files.rules import parse_family, parse_question, rule_from_dict, rule_to_dict

ORDERS = ("issue", "arrival")
PURSUIT, E_PROCESS = Pursuit(), EProcess()


@dataclass(frozen=True)
class Design:
    """Checked when it is made."""

    family: Family = DEFAULT
    question: Question = BEST
    delta: float = 0.05  # the risk of a wrong answer
    sampling: SamplingRule = PURSUIT
    stopping: StoppingRule = E_PROCESS
    seed: int = 0
    order: str = "issue"
    """In which order the verdict counts answers: that of the queries ("issue"), or that in which they came ("arrival")."""

    def __post_init__(self) -> None:
        if not self.sampling.live:
            raise ProblemError(
                f"sampling = {self.sampling!r}: a live learner cannot use it, it knows what only a simulation does; "
                "choose Pursuit()"
            )
        if self.order not in ORDERS:
            raise ProblemError(f"order = {self.order!r}: choose 'issue' or 'arrival'")
        if not (is_number(self.seed) and self.seed == int(self.seed) and self.seed >= 0):
            raise ProblemError(f"seed = {self.seed!r}: must be a whole number, 0 or more")
        binary_kl(self.delta)


def new_design(
    family: Family | str,
    question: Question | str,
    delta: float,
    sampling: SamplingRule | str,
    stopping: StoppingRule | str,
    seed: int,
    order: str,
) -> Design:
    """A design of which the family, the question and the rules may be words, such as "bernoulli"."""
    rules = as_sampling(sampling), as_stopping(stopping)
    return Design(as_family(family), as_question(question), delta, *rules, seed, order)


def design_to_dict(design: Design) -> dict[str, Any]:
    """Its fields by name; a study counts answers in the order of its queries, and does not say so."""
    return {
        "family": design.family.to_dict(),
        "question": design.question.to_dict(),
        "delta": design.delta,
        "sampling": rule_to_dict(design.sampling),
        "stopping": rule_to_dict(design.stopping),
        "seed": design.seed,
    }


def design_from_dict(data: Mapping[str, Any], order: str = "issue") -> Design:
    """What `design_to_dict` described."""
    return Design(
        parse_family(data["family"]),
        parse_question(data["question"], "question"),
        data["delta"],
        rule_from_dict(data["sampling"], "sampling"),
        rule_from_dict(data["stopping"], "stopping"),
        data["seed"],
        order,
    )
