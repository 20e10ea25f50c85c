"""The transportation cost f_a: how much evidence the weights (w_1, w_a) gather against "arm a is as good as the leader".

    f_a(w) = w_1 d(μ_1, x_a) + w_a d(μ_a, x_a),   x_a = (w_1 μ_1 + w_a μ_a)/(w_1 + w_a)          # eq. (key), with its ω

With weights it is the payoff of the game behind T*; with counts N and estimates μ̂ it is the GLR statistic Z_{1,a}.
The point x_a divides the segment from μ_a to μ_1 at the split r_a = w_1/(w_1 + w_a).
"""

from gobetween.core.ground.jit import leaf, part
from gobetween.core.reward.family import Family, divergence, variance


@part
def evidence(family: Family, mu_1: float, mu_a: float, w_1: float, w_a: float) -> tuple[float, float, float]:
    """f_a and its gradient (∂f/∂w_1, ∂f/∂w_a) = (d(μ_1, x_a), d(μ_a, x_a))."""
    total = w_1 + w_a
    if not total > 0.0:  # nothing known of either arm: any point will do
        return 0.0, divergence(family, mu_1, mu_a, 0.5, 0.5), divergence(family, mu_a, mu_1, 0.5, 0.5)
    each = 1.0 / total
    share_1, share_a = w_1 * each, w_a * each
    d_1 = divergence(family, mu_1, mu_a, share_a, share_1)
    d_a = divergence(family, mu_a, mu_1, share_1, share_a)
    if w_1 <= 0.0 or w_a <= 0.0:
        return 0.0, d_1, d_a
    return w_1 * d_1 + w_a * d_a, d_1, d_a


@leaf
def curvature(family: Family, mu_1: float, mu_a: float, w_1: float, w_a: float) -> tuple[float, float, float]:
    """−∇²f_a = κ (h_1, h_a)(h_1, h_a)ᵀ as κ, h_1, h_a; κ = 1/((w_1+w_a) V(x_a)), h = (μ_1 − x_a, μ_a − x_a)."""
    each = 1.0 / (w_1 + w_a)
    gap, share_1, share_a = mu_1 - mu_a, w_1 * each, w_a * each
    spread = variance(family, mu_a, mu_1, share_1, share_a)
    kappa = each / spread if spread > 0.0 else 0.0  # x_a rounded to the boundary of the domain
    return kappa, gap * share_a, -gap * share_1
