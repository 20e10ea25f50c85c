"""What is behind an alarm: which sample differs most from the others, which share is farthest from its policy."""

import numpy as np

from gobetween.core.family import Family
from gobetween.core.types import Floats, Ints


def most_different(family: Family, n: Ints, S: Floats) -> tuple[int, float, float]:
    """Of samples with counts n > 0 and sums S the one that differs most from all others together; its mean and theirs."""
    common, rest_n, rest_S = float(S.sum() / n.sum()), n.sum() - n, S.sum() - S
    rest = np.clip(rest_S / rest_n, family.low, family.high)  # what rounding has left may be impossible
    told = [
        k * family.kl(float(total / k), common) + m * family.kl(float(mean), common)
        for k, total, m, mean in zip(n.tolist(), S.tolist(), rest_n.tolist(), rest.tolist(), strict=True)
    ]
    one = int(np.argmax(told))
    return one, float(S[one] / n[one]), float(rest[one])


def most_off(counts: Ints, policy: Floats) -> tuple[int, float, float]:
    """The outcome whose share differs from its probability by most standard errors; the share and the probability."""
    shares, error = counts / counts.sum(), np.sqrt(np.maximum(policy * (1.0 - policy), 1e-12) / counts.sum())
    one = int(np.argmax(np.abs(shares - policy) / error))
    return one, float(shares[one]), float(policy[one])
