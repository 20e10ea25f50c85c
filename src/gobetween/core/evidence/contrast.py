"""The contrast of two arms: what one arm's rewards say against another's, with a mean that both could share taken out.

Each reward x of arm i enters the contrast with arm j with a weight h that is fixed before x is seen:

    S_ij += h x,  S_ji = −S_ij,  H_ij += h,  V_ij = V_ji += h²

h follows N_j/(N_i + N_j), which gathers most, and keeps H_ij near H_ji, so that the contrast hardly depends on a common mean m.
At means (λ_i, λ_j) the mixture over a deviation θ > 0 in favour of i

    Q_ij = Σ_c w_c (1 + V/c)^(−1/2) e^(z²) erfc(−z),   z = (S_ij − H_ij λ_i + H_ji λ_j)/(σ √(2(V + c)))

is a martingale that starts at 1, falls in λ_i, rises in λ_j and learns one number instead of two (docs/stopping.md).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, jit, leaf, part

#: Prior precisions of the deviation (as sums of squared weights) and their weights.
GAP_PRECISIONS = np.array([0.0625, 0.25, 1.0, 4.0, 16.0, 64.0, 256.0])
GAP_ROOTS = np.array([1.0, 1.0, 2.0, 4.0, 4.0, 2.0, 1.0]) / 15.0 * np.sqrt(GAP_PRECISIONS)  # weight · √c
#: V of a contrast that counts for nothing any more: Q is about 1e-145.
GIVEN_UP = 1e290
#: How fast an imbalance of H_ij and H_ji is made up for.
PULL = 0.1


class Contrast(NamedTuple):
    """The contrasts of all pairs of arms."""

    share: float  # weight beside the product of two mixtures; 0: not used, and nothing is kept
    sigma: float
    H: Floats  # [K, K]
    S: Floats  # [K, K]
    V: Floats  # [K, K]


def new_contrast(K: int, share: float, sigma: float) -> Contrast:
    """Nothing seen."""
    n = K if share > 0.0 else 0
    return Contrast(share, sigma, np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)))


@part
def add_to_contrast(contrast: Contrast, N_a: Ints, i: int, reward: float) -> None:
    """Arm i paid a reward, which N_a counts already."""
    n = float(N_a[i] - 1)
    H, S, V = contrast.H, contrast.S, contrast.V
    for j in range(H.shape[0]):
        if j != i:
            h = (N_a[j] + 0.5) / (n + N_a[j] + 1.0) - PULL * (H[i, j] - H[j, i])
            h = min(1.0, max(0.0, h))
            H[i, j] += h
            S[i, j] += h * reward
            S[j, i] = -S[i, j]
            V[i, j] += h * h
            V[j, i] = V[i, j]


@leaf
def clear_contrast(contrast: Contrast) -> None:
    """Nothing seen."""
    contrast.H[:] = 0.0
    contrast.S[:] = 0.0
    contrast.V[:] = 0.0


def give_up(contrast: Contrast, a: int) -> None:
    """The contrasts of arm a are given up: with which weight each of its rewards was counted is not kept, so none can be taken
    back. Q is 0 from here on, which may only fall short: were it to start at 1 again, each time would add its share of risk.
    """
    for table, value in ((contrast.H, 0.0), (contrast.S, 0.0), (contrast.V, GIVEN_UP)):
        table[a, :] = table[:, a] = value
        table[a, a] = 0.0


def contrasts(contrast: Contrast) -> dict[str, Any]:
    """JSON-safe; nothing where none are kept."""
    return {"contrast": [contrast.H.tolist(), contrast.S.tolist(), contrast.V.tolist()]} if contrast.share > 0.0 else {}


def restore_contrasts(contrast: Contrast, data: dict[str, Any]) -> None:
    """Take up what `contrasts` wrote."""
    if contrast.share > 0.0:
        contrast.H[:], contrast.S[:], contrast.V[:] = data["contrast"]


@jit
def log_contrast(contrast: Contrast, a: int, b: int, m: float, shift: float) -> tuple[float, float]:
    """The pair ln Q_ab, slope at a common mean: m of a, m + shift of b."""
    V = contrast.V[a, b]
    per = 1.0 / (1.4142135623730951 * contrast.sigma)
    steep = -(contrast.H[a, b] - contrast.H[b, a]) * per
    deviation = (contrast.S[a, b] + contrast.H[b, a] * shift) * per + m * steep
    square = deviation * deviation
    top = square / (V + GAP_PRECISIONS[0]) if deviation > 0.0 else 0.0  # the largest z² that counts
    rest = math.exp(-top)
    total, slope = 0.0, 0.0
    for j in range(GAP_PRECISIONS.shape[0]):
        per_root = 1.0 / math.sqrt(V + GAP_PRECISIONS[j])
        z = deviation * per_root
        weight = GAP_ROOTS[j] * per_root
        if z < -26.0:
            r = 0.5 / (z * z)
            total += weight * scaled_erfc(-z)
            slope += steep * per_root * weight * 1.1283791670955126 * r * (1.0 - 3.0 * r * (1.0 - 5.0 * r))  # 2/√π
            continue
        sink = -z * z
        if deviation > 0.0:  # top − z², never < 0
            sink = square * per_root * per_root * (GAP_PRECISIONS[j] - GAP_PRECISIONS[0]) / (V + GAP_PRECISIONS[0])
        share = weight * math.exp(-sink) * math.erfc(-z)
        total += share
        slope += steep * per_root * (2.0 * z * share + 1.1283791670955126 * weight * rest)
    return top + math.log(total), slope / total


@leaf
def scaled_erfc(z: float) -> float:
    """e^(z²) erfc(z) for z ≥ 26, where it would overflow: its asymptotic series, 1e-10 off at most."""
    r = 0.5 / (z * z)
    return 0.5641895835477563 / z * (1.0 - r * (1.0 - 3.0 * r * (1.0 - 5.0 * r)))
