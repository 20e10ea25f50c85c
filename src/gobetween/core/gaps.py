"""Are rewards missing more often in some groups of rows than in others? An e-value that may be looked at at any time.

In a group of n rows m lack their reward. If every row lacks it with the same probability p, then

    E = ∏ KT(m_g, n_g − m_g) / sup over p of p^m (1 − p)^(n − m)

is at most a martingale that begins at 1, KT being the Krichevsky–Trofimov mixture: E ever reaches 1/α with probability at
most α.
"""

import math

import numpy as np

from gobetween.core.mixtures import log_gamma
from gobetween.core.types import Floats, Ints


def log_gap_evidence(m: Ints, n: Ints) -> float:
    """Ln E from missing rewards and rows [G] of each group; half of E is that of all groups together, half the mean over
    each of them against the rest.
    """
    G, M, N = len(n), int(m.sum()), int(n.sum())
    if G < 2 or M == 0:
        return 0.0
    null = _log_likelihood(M, N)
    together = _log_kt(m, n).sum() - null
    if G == 2:
        return float(together)
    alone = _log_kt(m, n) + _log_kt(M - m, N - n) - null
    return float(np.logaddexp.reduce([together - math.log(2.0), *(alone - math.log(2.0 * G))]))


def _log_kt(m: Ints, n: Ints) -> Floats:
    """Ln KT of m of n, for each group."""
    one, other, all_rows = m.astype(np.float64), (n - m).astype(np.float64), n.astype(np.float64)
    return np.asarray(log_gamma(one + 0.5) + log_gamma(other + 0.5) - log_gamma(all_rows + 1.0)) - math.log(math.pi)


def _log_likelihood(m: int, n: int) -> float:
    """The largest log-likelihood of m of n."""
    return sum(k * math.log(k / n) for k in (m, n - m) if k)
