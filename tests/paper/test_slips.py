"""What does not hold as the paper prints it (docs/paper.md), in numbers and in the paper's own words."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from records import MISSING

import gobetween as gb
from gobetween.core.evidence.eprocess import evidence
from gobetween.paper.tables import EXPERIMENT_1, EXPERIMENT_2, TABLE_1, TABLE_2

PAPER = Path(__file__).parent.parent.parent.parent / "shared" / "paper"
#: By number of the slip: what stands in the text.
QUOTED = {
    1: r"\mathbb{P} \left( \hat{a}_{\tau_\delta} \in \argmax_{a \in [K]} \mu_a \right) \le \delta",
    2: r"\limsup_{\delta \rightarrow 0} \frac{\mathbb{E}_{\boldsymbol{\mu}} [\tau_\delta]}{\log(1/\delta)} \ge",
    3: r"\left( \sum_{e=1}^{E} (\pi_e(1) + \pi_e(a)) \right) I_",
    4: r"replacing $\mathbb{Y}$ and $\phi(\bm{\mu}, \bm{\pi})$ with $\widetilde{\Sigma}_K$",
    5: r"\left\Vert \bm{\omega}_t - \bm{\omega} \right\Vert_\infty$ holds as well",
    6: r"is a direct consequence of Assumption 1, forced-exploration, and Proposition 12",
    7: r"\le \alpha T^*(\boldsymbol{\mu}, \boldsymbol{\pi})",
    8: r"p_{\textrm{min}}(a) = \min_e \pi_e(a)",
    9: r"p_{\textrm{min}}(a) \left( \sqrt{t} - E \right)",
    10: r"\pi_{E_s}(a)| \le c t^{\gamma} \right) \\ & \le",
    11: r"\right\Vert_\infty \le 2E\epsilon",
    12: r"g(\bm{\hat{\mu}}(t), \frac{N_t^A}{t}) \ge t C^*",
    13: r"\section*{Appendix E: Experiments}",
}
MORE = (
    r"\left( \sum_{e=1}^K \pi_e(1) \right)",
    r"N_e(t) \ge \sqrt{t + E^2} - 2E",
    r"\frac{1}{T^{1/4}} + \frac{c}{T^{1/4}}",
    r"\right\Vert_\infty \le 3E\epsilon",
    r"Lemma 33 of \cite{degenne2019pure}",
    r"(Lemma 33 in \citet{garivieroptimal2016})",
    r"\section*{Appendix E: Proofs and derivations}",
    r"\log\left( \frac{Ct^{\alpha}}{\delta}\right)",
    r"tends to shrink as soon as we decrease the values of $\delta$",
    r"leads to some advantages (especially for moderate regimes of $\delta$)",
)


def test_what_is_quoted_stands_in_the_paper() -> None:
    """Where the paper's text lies beside the project."""
    texts = sorted(PAPER.glob("*.txt"))
    if not texts:
        pytest.skip(MISSING + "the paper's text")
    text = re.sub(r"\s+", " ", texts[0].read_text(encoding="utf-8"))
    for quoted in (*QUOTED.values(), *MORE):
        assert quoted in text, quoted


def test_every_slip_of_the_page_is_quoted() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "paper.md").read_text(encoding="utf-8")
    slips = re.findall(r"^(\d+)\. ", page.split("## Slips")[1].split("\n## ")[0], re.MULTILINE)
    assert [int(number) for number in slips] == list(QUOTED)


def printed_key(problem: gb.Problem) -> float:
    """Equation (key) as printed: sums over mediators without ω."""
    w, mu, best = problem.policies.sum(axis=0), problem.means, int(np.argmax(problem.means))
    return min(evidence(problem.family, mu[best], mu[a], w[best], w[a])[0] for a in range(problem.K) if a != best)


def test_the_key_equation_needs_its_weights() -> None:
    one = gb.Problem([1.5, 1.0, 0.5], [[0.2, 0.5, 0.3]], family=gb.Gaussian(1.0))
    assert printed_key(one) * gb.lower_bound(one).T_star == pytest.approx(1.0)
    for problem in (EXPERIMENT_1, EXPERIMENT_2):
        assert printed_key(problem) * gb.lower_bound(problem).T_star > 1.0 + 1e-9  # above the maximum over ω, by far in one
    assert printed_key(EXPERIMENT_1) * gb.lower_bound(EXPERIMENT_1).T_star > 2.0


def test_the_smallest_policy_entry_is_zero_in_both_experiments() -> None:
    assert (EXPERIMENT_1.policies.min(axis=0) == 0.0).tolist() == [True, True, False, True]
    assert (EXPERIMENT_2.policies.min(axis=0) == 0.0).tolist() == [True, False]
    for problem in (EXPERIMENT_1, EXPERIMENT_2):
        assert (problem.policies.max(axis=0) > 0.0).all()


def test_exponents_and_counts_of_the_lemmas() -> None:
    for E in (2, 4, 10):
        for n in (E * E, 100 * E * E, 10**6 * E * E):
            assert math.sqrt(n + E * E) - 2 * E < math.sqrt(n) - E
    for T in (1e4, 1e8, 1e12):
        t = math.sqrt(T)
        assert t**0.75 / t > T**-0.25
        assert t**0.75 / t == pytest.approx(T**-0.125)


def test_the_limit_does_not_depend_on_alpha() -> None:
    """The t with t/T* = ln(C t^α/δ), over ln(1/δ), comes to T* and not to αT*."""
    T_star, C = 73.28, 6.0
    for alpha in (1.05, math.e / 2):
        ratios = []
        for log_risk in (1e2, 1e4, 1e6):
            t = T_star * log_risk
            for _ in range(200):
                t = T_star * (math.log(C) + alpha * math.log(t) + log_risk)
            ratios.append(t / log_risk / T_star)
        assert ratios == sorted(ratios, reverse=True)
        assert 1.0 < ratios[-1] < 1.0001


def test_the_printed_difference_does_not_shrink() -> None:
    known, unknown = (np.array(column.means[:12], float) for column in TABLE_2.columns)
    widths = np.hypot(*(np.array(column.half_widths[:12], float) for column in TABLE_2.columns))
    apart, ratio = unknown - known, unknown / known
    assert (round(apart.min()), round(apart.max())) == (778, 945)
    assert 55 < widths.min() < widths.max() < 72
    assert (round(apart[:6].mean()), round(apart[6:].mean())) == (828, 865)
    assert (round(ratio[0], 1), round(ratio[-1], 1)) == (4.4, 2.4)


def test_100_runs_cannot_show_what_knowing_the_policies_is_worth() -> None:
    known, unknown = (np.array(TABLE_1.columns[i].means, float) for i in (1, 2))
    assert [TABLE_1.columns[i].name for i in (1, 2)] == ["TaS-MF-k", "TaS-MF-u"]
    assert np.round(unknown - known).tolist() == [20, 23, 26, 1]
    least = 1.96 * 420 * math.sqrt(2 / TABLE_1.runs)  # half-width of a difference, if one run deviates by no more than this
    assert least > 110
    assert (unknown - known < least / 4).all()
