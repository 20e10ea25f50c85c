"""A stopping rule at work on another question than the best arm: stop when the e-process of every pair reaches ways/δ."""

import math
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.evidence.contrast import (
    add_to_contrast,
    clear_contrast,
    contrasts,
    give_up,
    new_contrast,
    restore_contrasts,
)
from gobetween.core.evidence.empirical_bernstein import BernsteinSums
from gobetween.core.evidence.eprocess import Pairing
from gobetween.core.evidence.rank_evidence import LEARNING
from gobetween.core.ground.jit import Bools, Floats, leaf
from gobetween.core.ground.tally import Tally, best_seen, seen_all
from gobetween.core.question.question import Question, claim, faces, log_e, payoff
from gobetween.core.reward.family import Family, surplus


class QuestionStopper(NamedTuple):
    """What the rule needs beside the tally."""

    question: Question
    pairing: Pairing
    mask: Bools  # [K] the answer that was looked at last

    def judge(self, family: Family, tally: Tally, t: int, constants: Floats, passed: int) -> tuple[int, int]:
        return judge_question(self, family, tally, constants, passed)

    def note(self, family: Family, tally: Tally, t: int, a: int, reward: float) -> None:
        if self.pairing.contrast.share > 0.0:
            add_to_contrast(self.pairing.contrast, tally.N_a, a, reward)

    def restart(self) -> None:
        if self.pairing.contrast.share > 0.0:
            clear_contrast(self.pairing.contrast)

    def answer(self, best: int, mask: Bools) -> None:
        for a in range(mask.shape[0]):
            mask[a] = self.mask[a]

    def reading(self, family: Family, tally: Tally, t: int, Z: float) -> tuple[float, float]:
        best, found = 0, -math.inf
        for k in range(len(tally.N_a)):
            if not (tally.N_a.all() and self.question.claim(tally.mu_hat, k, self.mask)):
                break
            value = float(least_of_pairs(self, family, tally, -math.inf))
            best, found = (k, value) if value > found else (best, found)
        self.question.claim(tally.mu_hat, best, self.mask)
        return found, 0.0

    def bernstein(self) -> BernsteinSums:
        return self.pairing.bernstein

    def gathered(self, family: Family, tally: Tally, statistic: float) -> float:
        return statistic

    def needed(self, family: Family, tally: Tally, constant: float, t: int) -> None:
        """Unknown: of how many pairs the evidence must grow is not known beforehand."""

    def log_p(self, family: Family, tally: Tally, Z: float, statistic: float) -> float:
        return math.log(self.question.ways(len(tally.N_a))) - statistic if statistic > 0.0 else 0.0

    def corrected(self, a: int) -> None:
        if self.pairing.contrast.share > 0.0:
            give_up(self.pairing.contrast, a)

    def to_dict(self) -> dict[str, Any]:
        return contrasts(self.pairing.contrast)

    def restore(self, data: dict[str, Any]) -> None:
        restore_contrasts(self.pairing.contrast, data)


def new_question_stopper(question: Question, K: int, contrast: float, sigma: float, still: float) -> QuestionStopper:
    """Set the rule to work on a question."""
    return QuestionStopper(
        question, Pairing(new_contrast(K, contrast, sigma), still, shift=question.shift()), np.zeros(K, np.bool_)
    )


@leaf
def judge_question(stopper: QuestionStopper, family: Family, tally: Tally, constants: Floats, passed: int) -> tuple[int, int]:
    """The leader, and how many of the constants the first answer that passes one has passed; it stays in the mask."""
    best = best_seen(tally.mu_hat)
    k, before = 0, passed
    if seen_all(tally.N_a):
        while passed == before and passed < constants.shape[0] and claim(stopper.question, tally.mu_hat, k, stopper.mask):
            while passed < constants.shape[0]:
                if not least_of_pairs(stopper, family, tally, constants[passed]) >= constants[passed]:
                    break
                passed += 1
            k += 1
    return best, passed


@leaf
def least_of_pairs(stopper: QuestionStopper, family: Family, tally: Tally, enough: float) -> float:
    """The least evidence over the pairs of the answer in the mask, or any number under `enough` once one is under it.

    By definition a pair's evidence is LEARNING below its likelihood ratio or less, and not looked at before that suffices.
    """
    question, mask, mu, N_a = stopper.question, stopper.mask, tally.mu_hat, tally.N_a
    K, least, beyond = mu.shape[0], math.inf, surplus(family)
    for i in range(K):
        for b in range(K):
            if faces(question, mask, i, b):
                least = min(least, payoff(question, family, mu, i, b, float(N_a[i]), float(N_a[b]))[0] - LEARNING + beyond)
                if not least >= enough:
                    return least
    for i in range(K):
        for b in range(K):
            if faces(question, mask, i, b):
                least = min(least, log_e(question, family, tally, stopper.pairing, i, b, enough))
                if not least >= enough:
                    return least
    return least
