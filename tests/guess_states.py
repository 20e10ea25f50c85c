"""Adversarial guesses for the adversarial states of `rank_states`, and how the code's bound compares with brute force."""

from typing import Any, NamedTuple

import naive
import numpy as np
from rank_states import Scene, scene

import gobetween as gb
from gobetween.core.evidence.guess import Guess, chances
from gobetween.core.evidence.informed_ranks import new_informed_ranks

SHIFTS = ("right", "right", "near", "off", "reversed", "absurd")


class Guessed(NamedTuple):
    """A state with a guess; its ranks are informed."""

    scene: Scene
    guess: Guess


def guessed(family: gb.Family, seed: int) -> Guessed:
    """One of the kinds of guesses in turn: from what is about right, as sure as the rewards or far surer, to what is absurd."""
    found, rng = scene(family, seed), np.random.default_rng([53, seed])
    tally, K = found.tally, len(found.tally.N_a)
    wide = abs(tally.mu_hat[found.a] - tally.mu_hat[found.b])
    scale = float(wide * 10.0 ** rng.uniform(-2.0, 0.5))
    spread = scale * 10.0 ** rng.uniform(-0.5, 0.5, K) if rng.random() < 0.5 else np.full(K, scale)
    off = {"right": 0.0, "near": 0.5, "off": 3.0, "reversed": 0.3, "absurd": 100.0}[shift(seed)]
    means = tally.mu_hat + off * spread * rng.standard_normal(K)
    if shift(seed) == "reversed":
        means = means[np.argsort(np.argsort(-means))] if rng.random() < 0.5 else tally.mu_hat[::-1].copy()
    low, high = family.low, family.high
    if np.isfinite(low):
        means = np.maximum(means, low + 1e-3 * (np.abs(means - low) + wide))
    if np.isfinite(high):
        means = np.minimum(means, high - 1e-3 * (high - low))
    guess = Guess(means, spread, float(rng.choice([0.1, 0.3, 0.5, 0.9])))
    ranks: Any = new_informed_ranks(K, found.ranks.pairing, family, guess)
    return Guessed(found._replace(ranks=ranks), guess)


def shift(seed: int) -> str:
    """What kind of a guess it is."""
    return SHIFTS[seed % len(SHIFTS)]


def twin(found: Guessed) -> naive.GuessedTerms:
    """The term by other formulas."""
    (family, tally, ranks, a, b, _), guess = found
    contrast, bernstein = ranks.pairing.contrast, ranks.pairing.bernstein
    own = (contrast.share, contrast.H, contrast.S, contrast.V) if contrast.share > 0.0 else None
    little = (bernstein.share, bernstein.low, bernstein.width, bernstein.sums) if bernstein.share > 0.0 else None
    state = (family, tally.N_a, tally.S_a, a, b, ranks.pairing.still, own, little)
    said = np.array(guess.means), np.array(guess.spread), guess.stake
    return naive.GuessedTerms(*state, guess=said, best=chances(guess))
