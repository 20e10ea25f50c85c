"""A stopping rule at work on another question than the best arm: stop when the e-process of every pair reaches ways/δ."""

import math
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.contrast import add_to_contrast, clear_contrast, contrasts, give_up, new_contrast, restore_contrasts
from gobetween.core.eprocess import Pairing
from gobetween.core.family import Family, surplus
from gobetween.core.jit import leaf
from gobetween.core.question import Question, claim, faces, log_e, payoff
from gobetween.core.ranks import LEARNING
from gobetween.core.state import Tally, best_seen, seen_all
from gobetween.core.types import Bools, Floats


class Examiner(NamedTuple):
    """What the rule needs beside the tally."""

    question: Question
    pairing: Pairing
    mask: Bools  # [K] the answer that was looked at last

    def judge(self, family: Family, tally: Tally, t: int, constants: Floats, passed: int) -> tuple[int, int]:
        """The leader, and how many of the constants some answer has passed; that answer is in the mask."""
        return examined(self, family, tally, constants, passed)

    def note(self, family: Family, tally: Tally, t: int, a: int, reward: float) -> None:
        """Contrasts follow the order of answers; all else is in counts and sums."""
        if self.pairing.contrast.share > 0.0:
            add_to_contrast(self.pairing.contrast, tally.N_a, a, reward)

    def restart(self) -> None:
        """Forget everything, for a new run."""
        if self.pairing.contrast.share > 0.0:
            clear_contrast(self.pairing.contrast)

    def answer(self, best: int, mask: Bools) -> None:
        """Write the answer that was just judged."""
        for a in range(mask.shape[0]):
            mask[a] = self.mask[a]

    def reading(self, family: Family, tally: Tally, t: int, Z: float) -> tuple[float, float]:
        """The largest over answers of the least evidence for their pairs; that answer is in the mask."""
        best, found = 0, -math.inf
        for k in range(len(tally.N_a)):
            if not (tally.N_a.all() and self.question.claim(tally.mu_hat, k, self.mask)):
                break
            value = float(least_of_pairs(self, family, tally, -math.inf))
            best, found = (k, value) if value > found else (best, found)
        self.question.claim(tally.mu_hat, best, self.mask)
        return found, 0.0

    def log_p(self, family: Family, tally: Tally, Z: float, statistic: float) -> float:
        """The logarithm of a p-value that is valid at any time."""
        return math.log(self.question.ways(len(tally.N_a))) - statistic if statistic > 0.0 else 0.0

    def corrected(self, a: int) -> None:
        """An answer of arm a was changed or taken out: the contrasts of a are given up."""
        if self.pairing.contrast.share > 0.0:
            give_up(self.pairing.contrast, a)

    def saved(self) -> dict[str, Any]:
        """Contrasts, JSON-safe; the rest is in counts and sums."""
        return contrasts(self.pairing.contrast)

    def restore(self, data: dict[str, Any]) -> None:
        """Take up what `saved` wrote."""
        restore_contrasts(self.pairing.contrast, data)


def new_examiner(question: Question, K: int, contrast: float, sigma: float, still: float) -> Examiner:
    """Set the rule to work on a question."""
    return Examiner(question, Pairing(new_contrast(K, contrast, sigma), still, shift=question.shift()), np.zeros(K, np.bool_))


@leaf
def examined(examiner: Examiner, family: Family, tally: Tally, constants: Floats, passed: int) -> tuple[int, int]:
    """The leader, and how many of the constants the first answer that passes one has passed; it stays in the mask."""
    best = best_seen(tally.mu_hat)
    k, before = 0, passed
    if seen_all(tally.N_a):
        while passed == before and passed < constants.shape[0] and claim(examiner.question, tally.mu_hat, k, examiner.mask):
            while passed < constants.shape[0]:
                if not least_of_pairs(examiner, family, tally, constants[passed]) >= constants[passed]:
                    break
                passed += 1
            k += 1
    return best, passed


@leaf
def least_of_pairs(examiner: Examiner, family: Family, tally: Tally, enough: float) -> float:
    """The least evidence over the pairs of the answer in the mask, or any number under `enough` once one is under it.

    By definition a pair's evidence is LEARNING below its likelihood ratio or less, and not looked at before that suffices.
    """
    question, mask, mu, N_a = examiner.question, examiner.mask, tally.mu_hat, tally.N_a
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
                least = min(least, log_e(question, family, tally, examiner.pairing, i, b, enough))
                if not least >= enough:
                    return least
    return least
