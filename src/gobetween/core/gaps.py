"""Are rewards missing more often in some groups of rows than in others? An e-value that may be looked at at any time.

In a group of n rows m lack their reward. If every row lacks it with the same probability p, then

    E = ∏ KT(m_g, n_g − m_g) / sup over p of p^m (1 − p)^(n − m)

is at most a martingale that begins at 1, KT being the Krichevsky–Trofimov mixture: E ever reaches 1/α with probability at
most α.
"""

import math

import numpy as np

from gobetween.core.mixtures import log_kt, log_likelihood
from gobetween.core.types import Ints


def log_gap_evidence(m: Ints, n: Ints) -> float:
    """Ln E from missing rewards and rows [G] of each group; half of E is that of all groups together, half the mean over
    each of them against the rest.
    """
    G = len(n)
    if G < 2 or not m.any():
        return 0.0
    groups = np.stack([m, n - m], axis=1)
    null, each = float(log_likelihood(groups.sum(axis=0))), log_kt(groups.astype(np.float64))
    together = each.sum() - null
    if G == 2:
        return float(together)
    alone = each + log_kt((groups.sum(axis=0) - groups).astype(np.float64)) - null
    return float(np.logaddexp.reduce([together - math.log(2.0), *(alone - math.log(2.0 * G))]))
