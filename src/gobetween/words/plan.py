"""What a plan says: what is needed at least, from whom, and what would change that."""

import math
from collections.abc import Iterator

from gobetween.core.bound.what_if import Newcomer
from gobetween.core.problem.problem import Problem
from gobetween.export import listed, numbered
from gobetween.simulation.plan import Plan, QuestionPlan
from gobetween.words.numbers import amount, chance, percent, rough
from gobetween.words.verdict import question_words

MOST_ARMS = 6  # of a policy
LEAST = "This is the least that any method needs on average if your guesses are right; expect up to twice as much."
PROXY = "Rewards are only known to be bounded: this is a guide for planning, not a lower bound."
WORTH = (
    "A query is worth what it costs where the plan asks for it. A mediator that the plan does not ask would be asked only at a "
    "cost below what its query is worth."
)
BY_RISK = "Least expected {} for each risk of a wrong answer; half the risk costs little more."
WITHOUT = "The least without each mediator, in order; the dotted line: with all. Hatched: an arm would never be pulled."
OTHER_GAPS = "The least for each risk of a wrong answer, with the means as guessed and other gaps."


def plan_headline(plan: Plan | QuestionPlan) -> str:
    """What the first risk costs at least."""
    if plan.bound.status == "tie" and isinstance(plan, Plan):
        return f"{listed(plan.best_arms)} share the best mean: no number of queries can tell which is best"
    if plan.bound.status == "tie":
        question = question_words(plan.bound.question) if isinstance(plan, QuestionPlan) else ""
        return f"Means tie where the question {question} asks: no number of queries is enough"
    delta, least = plan.deltas[0], "About" if plan.bound.is_proxy else "At least"
    queries, spent = plan.bound.queries(delta), plan.bound.cost(delta)
    cost = f", cost {rough(spent):,}" if plan.unit == "cost" and spent != queries else ""
    return f"{least} {rough(queries):,} queries{cost} for a risk of {chance(delta)}"


def plan_texts(plan: Plan | QuestionPlan) -> list[str]:
    """What must be known to read the headline."""
    if plan.bound.status == "tie":
        return []
    return [PROXY if plan.bound.is_proxy else LEAST, *supported_words(plan)]


def price_words(plan: Plan) -> tuple[str, str]:
    """What acting through mediators costs, and beside what."""
    aside = "" if plan.problem.costs is None else "; costs set aside"
    if plan.problem.direct:
        return "none", "arms are pulled directly"
    if plan.price.is_free:
        return "none", f"the mediators can play the best direct allocation{aside}"
    return f"{amount(plan.price.ratio)} times", f"the queries of pulling arms directly{aside}"


def supported_words(plan: Plan | QuestionPlan) -> list[str]:
    """What is not known of some mediators, what the plan takes in its place, and between what its cost lies then."""
    found, problem = plan.supported, plan.problem
    if found is None:
        return []
    one, who = len(found.mediators) == 1, listed([problem.mediators[e] for e in found.mediators])
    each, theirs, it = ("it", "its policy is", "it") if one else ("each", "their policies are", "them")
    scale = plan.bound.cost(plan.deltas[0]) / plan.bound.T_star
    most = f"at most {amount(scale * found.T_without)} (as without {it})"
    if math.isinf(found.T_without):
        most = "has no upper limit: mediators of known policy do not pull every arm"
    what = "cost" if plan.unit == "cost" else "number of queries"
    least = f"the least expected {what} is at least {amount(scale * found.T_best)} (the best case)"
    assumed = (
        f"How often {who} {'chooses' if one else 'choose'} each arm is not known: this plan is as if {each} chose uniformly"
    )
    return [f"{assumed} among the arms that it may pull. Whatever {theirs}, {least} and {most}."]


def targets_title(plan: Plan | QuestionPlan) -> str:
    """The heading over what each risk costs."""
    what = "cost" if plan.unit == "cost" else "number of queries"
    return f"Expected {what}, roughly" if plan.bound.is_proxy else f"Least expected {what}: no method does better on average"


def needed_words(plan: Plan) -> Iterator[str]:
    """Who is not needed, and why."""
    names, needless = plan.problem.mediators, {item.mediator for item in plan.redundant}
    if any(plan.bound.omega[e] == 0.0 for e in range(plan.problem.E) if e not in needless):
        yield "A mediator at 0% is not asked if the means are as in the file; with other means it may be."
    for item in plan.redundant:
        others = [(names[e], float(w)) for e, w in enumerate(item.weights) if w > 0.0]
        mixture = " + ".join(f"{percent(w)} {name}" for name, w in others)
        why = {
            "duplicate": f"the same as {others[0][0] if others else 'none'}",
            "mixture": f"the same as {mixture}",
            "dominated": f"a query is worth no more than {mixture}, which costs no more" if others else "never pulls an arm",
        }[item.reason]
        yield f"Not needed, whatever the means: {names[item.mediator]} ({why})."
    if not needless and not plan.problem.direct:
        yield "Every mediator can be useful."


def more_worths(rest: int) -> str:
    """What is not in the table of worths."""
    return f"{WORTH} The other {rest:,} change the least no more than the last one shown." if rest > 0 else WORTH


def newcomer_words(plan: Plan) -> Iterator[str]:
    """Which new mediator lowers the cost most, and which one halves it."""
    best, halving, what = plan.what_if.best, plan.what_if.halving, "cost" if plan.unit == "cost" else "number of queries"
    if plan.problem.direct:
        return
    if best is None:
        price = "as much as one of the plan does on average" if plan.unit == "cost" else "as much as now"
        yield f"No new mediator lowers the {what} while a query costs {price}."
    else:
        price = f" at a cost of {amount(best.cost)} (as a query of this plan on average)" if plan.unit == "cost" else ""
        fall = percent(1.0 - best.T_star / plan.bound.T_star)
        yield f"The best policy of a new mediator{price} is {policy_words(plan.problem, best)}: it lowers the {what} by {fall}."
    if halving is not None and best is not None and halving.cost == best.cost:
        yield f"To halve the {what}, {policy_words(plan.problem, halving)} is enough."
    elif halving is not None:
        cost = amount(halving.cost) + ("" if plan.unit == "cost" else " of what one costs now")
        policy = policy_words(plan.problem, halving)
        yield f"To halve the {what}, its queries would have to cost {cost} or less, with the policy {policy}."


def policy_words(problem: Problem, newcomer: Newcomer) -> str:
    """The arms that it pulls most."""
    parts = [(name, float(p)) for name, p in zip(problem.arms, newcomer.policy, strict=True) if p >= 0.0005]
    shown = sorted(parts, key=lambda part: -part[1])[:MOST_ARMS]
    rest = [numbered(len(parts) - len(shown), "more arm")] if len(parts) > len(shown) else []
    return ", ".join([*(f"{name} {percent(round(p, 3))}" for name, p in shown), *rest])


def gap_words(factor: float) -> str:
    """How far means are from the best."""
    return "as guessed" if factor == 1.0 else f"{factor:g} times"


def theory(plan: Plan | QuestionPlan) -> Iterator[tuple[str, str]]:
    """What a reader of the paper wants to know."""
    bound = plan.bound
    if isinstance(plan, Plan):
        yield "Hardest rival", plan.problem.arms[plan.hardest_rival]
        yield "Price of mediation", " ".join(price_words(plan))
    else:
        yield "Hardest", " against ".join(plan.hardest)
    yield "T*", f"{bound.T_star:,.6g} {plan.unit} for each unit of kl(δ, 1−δ) ≈ ln(1/δ)"
    if bound.status == "inexact":
        yield "T* lies between", f"{bound.T_lower:,.9g} and {bound.T_upper:,.9g}: true, but wider than asked for"
