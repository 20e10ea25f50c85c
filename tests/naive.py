"""Slow, independent reference implementations: textbook formulas, no code shared with the package."""

from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.special import betaln, erfcx, gammaln, log_ndtr
from scipy.stats import norm

mpmath.mp.dps = 120

Floats = NDArray[np.float64]


def kl(family: Any, mu: Any, lam: Any) -> Any:
    """d(μ, λ) in 120 digits, from the definition of the family's density."""
    mu, lam = mpmath.mpf(mu), mpmath.mpf(lam)
    log = mpmath.log
    if family.name == "gaussian":
        return (mu - lam) ** 2 / (2 * mpmath.mpf(family.sigma) ** 2)
    if family.name == "bounded":
        low, high = mpmath.mpf(family.low), mpmath.mpf(family.high)
        mu, lam = (mu - low) / (high - low), (lam - low) / (high - low)
        return _xlog(mu, lam) + _xlog(1 - mu, 1 - lam)
    if family.name == "bernoulli":
        return _xlog(mu, lam) + _xlog(1 - mu, 1 - lam)
    if family.name == "poisson":
        return _xlog(mu, lam) - mu + lam
    if family.name == "exponential":
        return mu / lam - 1 - log(mu / lam)
    if family.name == "gamma":
        return mpmath.mpf(family.shape) * (mu / lam - 1 - log(mu / lam))
    if family.name == "binomial":
        return _xlog(mu, lam) + _xlog(mpmath.mpf(family.n) - mu, mpmath.mpf(family.n) - lam)
    if family.name == "geometric":
        return _xlog(mu - 1, lam - 1) - _xlog(mu, lam)
    if family.name == "negative-binomial":
        r = mpmath.mpf(family.r)
        return _xlog(mu, lam) - _xlog(mu + r, lam + r)
    raise AssertionError(family.name)


def _xlog(p: Any, q: Any) -> Any:
    if p == 0:
        return mpmath.mpf(0)
    return mpmath.inf if q == 0 else p * mpmath.log(p / q)


def transport(family: Any, mu_1: Any, mu_a: Any, w_1: Any, w_a: Any) -> Any:
    """f_a = inf over a common mean x of w_1 d(μ_1, x) + w_a d(μ_a, x), at the weighted mean."""
    if w_1 == 0 or w_a == 0:
        return mpmath.mpf(0)
    w_1, w_a = mpmath.mpf(w_1), mpmath.mpf(w_a)
    x = (w_1 * mpmath.mpf(mu_1) + w_a * mpmath.mpf(mu_a)) / (w_1 + w_a)
    return w_1 * kl(family, mu_1, x) + w_a * kl(family, mu_a, x)


def certificate(bound: Any) -> tuple[Any, Any]:
    """T_lower and T_upper from the published fields of a LowerBound alone, in 120 digits."""
    problem = bound.problem
    K, E, best = problem.K, problem.E, bound.leader
    cost = np.ones(E) if problem.costs is None else problem.costs
    rate = [[mpmath.mpf(problem.policies[e, a]) / mpmath.mpf(cost[e]) for a in range(K)] for e in range(E)]
    rho = [mpmath.mpf(x) for x in bound.cost_shares]
    w = [sum(rho[e] * rate[e][a] for e in range(E)) for a in range(K)]
    mu = [mpmath.mpf(m) for m in problem.means]
    rivals = [a for a in range(K) if a != best]
    upper = sum(rho) / min(transport(problem.family, mu[best], mu[a], w[best], w[a]) for a in rivals)
    q, o = [mpmath.mpf(x) for x in bound.rival_weights], [mpmath.mpf(x) for x in bound.rival_odds]
    gains = []
    x = [(mu[a] + o[a] * mu[best]) / (1 + o[a]) for a in range(K)]
    d = {a: (kl(problem.family, mu[best], x[a]), kl(problem.family, mu[a], x[a])) for a in rivals if q[a] > 0}
    for e in range(E):
        gains.append(sum(q[a] * (rate[e][best] * d[a][0] + rate[e][a] * d[a][1]) for a in d))
    return sum(q[a] for a in rivals) / max(gains), upper


def cutting_planes(family: Any, means: Any, rates: Any, tol: float = 1e-7) -> tuple[float, float]:
    """Bounds on T* by linear programs: f_a is concave and homogeneous, so f_a(w) ≤ ∇f_a(w_k)·w for any past w_k."""
    mu = np.asarray(means, dtype=float)
    P = np.asarray(rates, dtype=float)
    E, _ = P.shape
    best = int(np.argmax(mu))
    rivals = [a for a in range(len(mu)) if a != best]
    omega = np.full(E, 1.0 / E)
    cuts: list[Floats] = []
    lower, upper = 0.0, np.inf
    for _ in range(500):
        w = P.T @ omega
        values = []
        for a in rivals:
            x = (w[best] * mu[best] + w[a] * mu[a]) / (w[best] + w[a])
            d_1, d_a = float(kl(family, mu[best], x)), float(kl(family, mu[a], x))
            values.append(w[best] * d_1 + w[a] * d_a)
            cuts.append(d_1 * P[:, best] + d_a * P[:, a])
        lower = max(lower, min(values))
        scale = max(lower, 1e-300)
        G = np.array(cuts) / scale
        lp = linprog(
            np.append(np.zeros(E), -1.0),
            A_ub=np.hstack([-G, np.ones((len(G), 1))]),
            b_ub=np.zeros(len(G)),
            A_eq=np.append(np.ones(E), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0, None)] * E + [(None, None)],
        )
        upper = min(upper, -lp.fun * scale)
        if upper <= lower * (1 + tol):
            break
        omega = 0.5 * np.maximum(lp.x[:E], 0) + 0.5 * omega  # damped, and w stays positive
        omega /= omega.sum()
    return 1.0 / upper, 1.0 / lower


# The e-process with ranks, from docs/stopping.md. Places are means in increasing order, on a scale where all is convex: −1/mean for
# waiting times, minus the chance of a success for trials that are waited for.


def place_of(family: Any, mean: Any) -> Any:
    """Where a mean stands."""
    if family.name == "negative-binomial":
        return -family.r / (np.asarray(mean, dtype=float) + family.r)
    reciprocal = family.name in ("exponential", "gamma", "geometric")
    return -1.0 / np.asarray(mean, dtype=float) if reciprocal else np.asarray(mean, dtype=float)


def places(family: Any) -> tuple[float, float]:
    """The closed interval of places."""
    waits = {"exponential": (-np.inf, 0.0), "gamma": (-np.inf, 0.0), "geometric": (-1.0, 0.0), "negative-binomial": (-1.0, 0.0)}
    return waits.get(family.name, (family.low, family.high))


def log_mean_exp(terms: Any, weights: Any) -> Any:
    """The logarithm of Σ w e^term over the last axis."""
    top = terms.max(axis=-1)
    return top + np.log((weights * np.exp(terms - top[..., None])).sum(axis=-1))


def tilts() -> tuple[Floats, Floats]:
    """The prior over tilts of the families without a known scale, towards the useful side."""

    def heavy(powers: Floats, step: Any = 1.0) -> Floats:
        parts = step / (1 + ((powers + 2) / 2) ** 2)
        return np.asarray(parts / parts.sum())

    half, one = np.linspace(-9, 3, 25), np.linspace(-9, 3, 13)
    tiny = np.array([*range(-24, -9), *range(-40, -25, 2)], dtype=float)
    steps = np.where(tiny < -24, 2.0, 1.0)
    weights = np.concatenate([0.99 * 0.97 * heavy(half), 0.99 * 0.03 * heavy(tiny, steps), 0.01 * heavy(one)])
    return np.concatenate([2**half, 2**tiny, -(2**one)]), weights


def log_M(family: Any, n: float, S: float, x: Any, side: int) -> Any:
    """The logarithm of M⁺ (side 1) or M⁻ (−1) at places x [any shape], after n rewards with sum S."""
    x = np.asarray(x, dtype=float)[..., None]
    if family.name == "gaussian":
        c, w = np.array([0.25, 1, 4, 16, 64]), np.array([1, 2, 4, 4, 1]) / 12
        z = side * (S - n * x) / (family.sigma * np.sqrt(n + c))  # a standard normal at the truth, nearly
        halves = np.logaddexp(np.log(0.99) + log_half(z), np.log(0.01) + log_half(-z))
        return log_mean_exp(halves - 0.5 * np.log1p(n / c), w)
    theta, w = tilts()
    theta = side * theta
    if family.name == "poisson":
        grid, smooth = theta * S - n * x * np.expm1(theta), gamma_prior(S, n * x)
    elif family.name in ("exponential", "gamma"):
        k = getattr(family, "shape", 1.0)
        grid, smooth = -k * S * x * -np.expm1(-theta) - k * n * theta, gamma_prior(k * n, -k * S * x)
    elif family.name in ("geometric", "negative-binomial"):
        good, bad = (n, S - n) if family.name == "geometric" else (n * family.r, S)
        grid = np.where(
            x < -0.5,
            theta * bad - (good + bad) * np.log1p((1 + x) * np.expm1(theta)),
            -theta * good - (good + bad) * np.log1p(-x * np.expm1(-theta)),  # the same, with smaller terms
        )
        smooth = beta_prior(good + bad, good, np.clip(-x, 1e-150, None))
    elif family.name == "binomial":
        grid = theta * S - n * family.n * np.log1p(x / family.n * np.expm1(theta))
        smooth = beta_prior(n * family.n, S, np.clip(x / family.n, 1e-150, None))
    else:
        low, high = places(family)
        ones, x = (S - n * low) / (high - low), (x - low) / (high - low)
        grid, smooth = theta * ones - n * np.log1p(x * np.expm1(theta)), beta_prior(n, ones, np.clip(x, 1e-150, None))
    return np.logaddexp(np.log(0.99) + log_mean_exp(grid, w), np.log(0.01) + smooth[..., 0])


def gamma_prior(s: Any, y: Any) -> Any:
    """The conjugate part of Poisson and waiting times."""
    return y + gammaln(s + 1) - (s + 1) * np.log1p(y)


def beta_prior(n: Any, ones: Any, x: Any) -> Any:
    """The conjugate part of Bernoulli and bounded rewards."""
    rest = np.clip(1 - x, 1e-150, None)
    return betaln(ones + 0.5, n - ones + 0.5) - np.log(np.pi) - ones * np.log(x) - (n - ones) * np.log(rest)


def log_half(z: Any) -> Any:
    """The logarithm of 2Φ(z) e^(z²/2): a normal prior cut in half."""
    return np.where(z < 0, np.log(erfcx(np.maximum(-z, 0) / np.sqrt(2))), 0.5 * z * z + np.log(2) + log_ndtr(z))


def log_Q(sigma: float, H_ab: float, H_ba: float, S_ab: Any, V: Any, x_a: Any, x_b: Any) -> Any:
    """The logarithm of the contrast of a against b at two means."""
    c, w = 4.0 ** np.arange(-2, 5), np.array([1, 1, 2, 4, 4, 2, 1]) / 15
    V = np.asarray(V)[..., None]
    z = np.asarray(S_ab - H_ab * x_a + H_ba * x_b)[..., None] / (sigma * np.sqrt(V + c))
    return log_mean_exp(log_half(z) - 0.5 * np.log1p(V / c), w)


def log_N(bernstein: Any, i: int, x: Any, side: int) -> Any:
    """The logarithm of N⁺ (side 1) or N⁻ (−1) of arm i at means x, from (share, low, width, sums [3, K])."""
    _, low, width, (n, S, V) = bernstein
    powers = np.array([*np.arange(-16, 11) / 2, *range(-14, -8)])
    weights = np.where(powers < -8, 2.0, 1.0) / (1 + (powers / 3) ** 2)
    lam = 1 / (1 + 2.0**-powers)
    y = (np.asarray(x, dtype=float)[..., None] - low) / width
    terms = side * lam * (S[i] - n[i] * y) - (-np.log1p(-lam) - lam) * V[i]
    return np.logaddexp(np.log(0.05), np.log(0.95) + log_mean_exp(terms, weights / weights.sum()))


class Terms:
    """The term of a against b in W(μ), for every μ with μ_b the largest: v_rank(a) G_ab ∏R_c."""

    def __init__(
        self,
        family: Any,
        N: Any,
        S: Any,
        a: int,
        b: int,
        still: float = 0.0,
        contrast: tuple[float, Any, Any, Any] | None = None,
        bernstein: tuple[float, float, float, Any] | None = None,
    ) -> None:
        self.bernstein = bernstein
        self.family, self.N, self.S, self.a, self.b = family, np.asarray(N, float), np.asarray(S, float), a, b
        self.still, self.contrast, self.K = still, contrast, len(N)
        self.others = [c for c in range(self.K) if c not in (a, b)]
        self.points = self._points()
        self.low_R = {c: self._lowest(c) for c in self.others}

    def _points(self) -> Floats:
        """Places worth a look: about every estimate, in between, and the ends."""
        low, high = places(self.family)
        mean = self.S / self.N
        if self.family.name in ("gaussian", "exponential"):
            spread = np.full(self.K, self.family.sigma) if self.family.name == "gaussian" else 1 / mean
        elif self.family.name == "gamma":
            spread = 1 / mean / np.sqrt(self.family.shape)
        elif self.family.name in ("geometric", "negative-binomial"):
            r = getattr(self.family, "r", 1.0)
            p = np.clip(-place_of(self.family, mean), 1e-300, 1.0)
            spread = p * np.sqrt((1 - p + 1 / (r * self.N)) / r)
        elif self.family.name == "poisson":
            spread = np.sqrt(mean + 1 / self.N)
        else:
            spread = np.sqrt(np.clip((mean - low) * (high - mean), 0, None) + (high - low) ** 2 / self.N)
        ladder = np.array([0, 0.1, 0.2, 0.4, 0.7, 1, 1.4, 1.8, 2.3, 3, 4, 6, 10, 30])
        steps = np.concatenate([-ladder[:0:-1], ladder])
        at = place_of(self.family, mean)
        spots = (at[:, None] + (spread / np.sqrt(self.N))[:, None] * steps).ravel()
        if self.bernstein is not None:
            n, S, V = self.bernstein[3]
            centre, little = self.bernstein[1] + self.bernstein[2] * S / n, self.bernstein[2] * np.sqrt(V) / n
            spots = np.append(spots, (centre[:, None] + little[:, None] * steps).ravel())
        between = np.linspace(at[self.b], at[self.a], 25)
        ends = [end for end in (low, high) if np.isfinite(end)]
        return np.unique(np.clip(np.concatenate([spots, between, ends]), low, high))

    def _R(self, c: int, x: Any) -> Any:
        eta = 0.15 * np.log(self.K - 1) / np.log(3) / (self.K - 2)
        M = log_M(self.family, self.N[c], self.S[c], x, -1)
        if self.bernstein is not None:
            share = self.bernstein[0]
            M = np.logaddexp(np.log1p(-share) + M, np.log(share) + log_N(self.bernstein, c, x, -1))
        return np.logaddexp(np.log1p(-eta), np.log(eta) + M)

    def _lowest(self, c: int) -> tuple[float, float]:
        """Where R_c is least, and its logarithm there."""
        x = self.points
        for _ in range(8):
            values = self._R(c, x)
            i = int(np.argmin(values))
            found = float(x[i]), float(values[i])
            x = np.linspace(x[max(i - 1, 0)], x[min(i + 1, len(x) - 1)], 21)
        return found

    def log_G(self, x_a: Any, x_b: Any) -> Any:
        """The pair, at all pairs of places x_a [n] and x_b [m]."""
        still = np.log(self.still) if self.still > 0 else -np.inf
        a, b = self.a, self.b
        up = np.logaddexp(np.log1p(-self.still) + log_M(self.family, self.N[a], self.S[a], x_a, 1), still)
        down = np.logaddexp(np.log1p(-self.still) + log_M(self.family, self.N[b], self.S[b], x_b, -1), still)
        both = up[:, None] + down
        if self.bernstein is not None:
            other = log_N(self.bernstein, a, x_a, 1)[:, None] + log_N(self.bernstein, b, x_b, -1)
            return np.logaddexp(np.log1p(-self.bernstein[0]) + both, np.log(self.bernstein[0]) + other)
        if self.contrast is None:
            return both
        share, H, S, V = self.contrast
        Q = log_Q(self.family.sigma, H[a, b], H[b, a], S[a, b], V[a, b], x_a[:, None], x_b)
        return np.logaddexp(np.log1p(-share) + both, np.log(share) + Q)

    def log_rest(self, x_a: Any, x_b: Any) -> Any:
        """The least v_rank(a) ∏R_c there: every c stands where it costs least, below a or between a and b."""
        if not self.others:
            return np.zeros((len(x_a), len(x_b)))
        below, above = [], []
        for c in self.others:
            best, least = self.low_R[c]
            R_a = self._R(c, x_a)
            R_b = R_a if x_b is x_a else self._R(c, x_b)
            below.append(np.broadcast_to(np.where(x_a >= best, least, R_a)[:, None], (len(x_a), len(x_b))))
            above.append(np.where(x_a[:, None] >= best, R_a[:, None], np.where(x_b <= best, R_b, least)))
        extra = np.sort(np.array(above) - np.array(below), axis=0)
        paid = np.concatenate([np.zeros((1, *extra.shape[1:])), np.cumsum(extra, axis=0)])
        ranks = np.arange(1, self.K)
        v = 1 / ranks / np.sum(1 / ranks)
        return np.sum(below, axis=0) + np.min(paid + np.log(v)[:, None, None], axis=0)

    def at(self, x_a: Any, x_b: Any) -> Any:
        """The logarithm of the term [n, m], least over the places of the others; ∞ outside the null."""
        return np.where(x_a[:, None] <= x_b, self.log_G(x_a, x_b) + self.log_rest(x_a, x_b), np.inf)

    def least(self, candidates: int = 4, rounds: int = 7) -> float:
        """The infimum over the whole null, by a grid of pairs of places that closes in on its best points; from above."""
        values = self.at(self.points, self.points)
        starts = {(int(i), int(i)) for i in np.argsort(np.diag(values))[:candidates]}
        starts |= {divmod(int(k), len(self.points)) for k in np.argsort(values, axis=None)[:candidates]}
        return min(float(values.min()), *(self._close_in(i, j, rounds) for i, j in starts))

    def _close_in(self, i: int, j: int, rounds: int) -> float:
        n, x = len(self.points), self.points
        box = [[x[max(k - 1, 0)], x[min(k + 1, n - 1)]] for k in (i, j)]
        (low, high), least = places(self.family), np.inf
        for _ in range(rounds):
            both = np.union1d(*(np.linspace(side[0], side[1], 13) for side in box))  # common places as well
            values = self.at(both, both)
            k, m = np.unravel_index(int(np.argmin(values)), values.shape)
            least = min(least, float(values[k, m]))
            for side, at in zip(box, (both[k], both[m]), strict=True):
                reach = (side[1] - side[0]) / 6
                side[0], side[1] = max(low, at - reach), min(high, at + reach)
        return least


def log_I(family: Any, n: float, S: float, x: Any, g: float, s: float) -> Any:
    """The logarithm of the prior predictive of n rewards with sum S, for a guess g ± s of the mean, over the likelihood at places x."""
    x = np.asarray(x, dtype=float)
    if family.name == "gaussian":
        own = family.sigma**2 / n
        return norm.logpdf(S / n, g, np.sqrt(s**2 + own)) - norm.logpdf(S / n, x, np.sqrt(own))
    if family.name == "poisson":
        alpha, beta = g**2 / s**2, g / s**2
        likelihood = np.where(S > 0, S * np.log(np.clip(x, 1e-300, None)), 0.0) - n * x
        return alpha * np.log(beta) + gammaln(alpha + S) - gammaln(alpha) - (alpha + S) * np.log(beta + n) - likelihood
    if family.name in ("exponential", "gamma"):
        k, rate = getattr(family, "shape", 1.0), np.clip(-x, 1e-300, None)
        alpha, beta = g**2 / s**2, g**3 / s**2
        inner = alpha * np.log(beta) + gammaln(alpha + k * n) - gammaln(alpha) - (alpha + k * n) * np.log(beta + k * S)
        return inner - k * n * np.log(rate) + k * S * rate
    if family.name in ("geometric", "negative-binomial"):
        r = getattr(family, "r", 1.0)
        ones, zeros = (n, S - n) if family.name == "geometric" else (n * r, S)
        chance, q = -place_of(family, g), -x
        q_s = s * chance**2 / r
    else:
        low, high = family.low, family.high
        trials = family.n if family.name == "binomial" else 1.0
        ones, zeros = trials * (S - n * low) / (high - low), trials * (n * high - S) / (high - low)
        chance, q, q_s = (g - low) / (high - low), (x - low) / (high - low), s / (high - low)
    size = max(chance * (1 - chance) / q_s**2 - 1, 0.2)
    alpha, beta = chance * size, (1 - chance) * size
    q, rest = np.clip(q, 1e-150, None), np.clip(1 - q, 1e-150, None)
    return betaln(alpha + ones, beta + zeros) - betaln(alpha, beta) - ones * np.log(q) - zeros * np.log(rest)


def log_Q_informed(sigma: float, H: Any, S: Any, V: Any, a: int, b: int, g: Any, s: Any, x_a: Any, x_b: Any) -> Any:
    """The logarithm of the informed contrast of a against b at two means: a normal prior on θ, cut at 0, in closed form."""
    theta, found = (g[a] - g[b]) / sigma**2, []
    Y = S[a, b] - H[a, b] * x_a + H[b, a] * x_b
    for k in (1.0, 2.0, 4.0):
        tau = k * np.hypot(s[a], s[b]) / sigma**2
        P = tau**-2 + sigma**2 * V[a, b]
        m = (theta * tau**-2 + Y) / P
        squares = 0.5 * (m * m * P - theta**2 / tau**2)
        found.append(squares + log_ndtr(m * np.sqrt(P)) - log_ndtr(theta / tau) - np.log(tau * np.sqrt(P)))
    return log_mean_exp(np.stack(found, axis=-1), np.array([0.6, 0.25, 0.15]))


def guessed_best(g: Any, s: Any) -> Any:
    """The chances of the arms to be the best if their means are normal around g."""

    def density(m: float, a: int) -> float:
        rivals = [norm.cdf(m, g[c], s[c]) for c in range(len(g)) if c != a]
        return float(norm.pdf(m, g[a], s[a]) * np.prod(rivals))

    near = sorted({float(v) for c in range(len(g)) for v in g[c] + s[c] * np.array([-9, -3, -1, 0, 1, 3, 9])})
    return np.array([sum(quad(density, lo, hi, (a,), limit=100)[0] for lo, hi in pairwise(near)) for a in range(len(g))])


class GuessedTerms(Terms):
    """The term of a against b in W_g(μ), for every μ with μ_b the largest: (1 − w) v_rank(a) G_ab ∏R_c + w u_ab J_ab."""

    def __init__(self, *state: Any, guess: tuple[Any, Any, float], best: Any) -> None:
        super().__init__(*state)
        self.g, self.s, self.stake = guess
        q = 0.9 * np.asarray(best) + 0.1 / self.K
        self.u = q[self.a] / (1 - q[self.b])

    def log_products(self, x_a: Any, x_b: Any) -> Any:
        found = []
        for k, weight in ((1.0, 0.6), (2.0, 0.25), (4.0, 0.15)):
            I_a, I_b = (
                log_I(self.family, self.N[i], self.S[i], x, self.g[i], k * self.s[i]) for i, x in ((self.a, x_a), (self.b, x_b))
            )
            found.append(np.log(weight) + I_a[:, None] + I_b)
        return np.logaddexp.reduce(found)

    def log_J(self, x_a: Any, x_b: Any) -> Any:
        G = self.log_G(x_a, x_b)
        if not self.g[self.a] > self.g[self.b]:
            return G
        both = self.log_products(x_a, x_b)
        if self.contrast is None:
            return np.logaddexp(G, both) - np.log(2)
        _, H, S, V = self.contrast
        gap = log_Q_informed(self.family.sigma, H, S, V, self.a, self.b, self.g, self.s, x_a[:, None], x_b)
        return np.logaddexp.reduce([G, both, gap]) - np.log(3)

    def at(self, x_a: Any, x_b: Any) -> Any:
        plain = np.log1p(-self.stake) + self.log_G(x_a, x_b) + self.log_rest(x_a, x_b)
        staked = np.log(self.stake * self.u) + self.log_J(x_a, x_b)
        return np.where(x_a[:, None] <= x_b, np.logaddexp(plain, staked), np.inf)


PRIORS = [(c, w / 48.0) for c, w in ((0.25, 1), (1.0, 2), (4.0, 4), (16.0, 4), (64.0, 1))]


def log_unknown(n: float, v: float, d: Any, sigma: Floats) -> Floats:
    """Ln of the mixture of normal laws with a mean and a spread of their own over N(λ, σ²), at each σ: n rewards, d = x̄ − λ.

    Precision r/σ² with r ~ Gamma(α, α), mean ~ N(λ, σ²/(rc)); 10% on the null itself.
    """
    terms = [np.full(sigma.shape, np.log(0.1))]
    for alpha, u in ((0.25, 1.0), (32.0, 3.0)):
        for c, w in PRIORS:
            around, null = n * v + n * c / (n + c) * d * d, n * v + n * d * d
            value = 0.5 * np.log(c / (c + n)) + alpha * np.log(alpha) - gammaln(alpha) + gammaln(alpha + n / 2)
            value = value - (alpha + n / 2) * np.log(alpha + around / (2 * sigma**2)) + null / (2 * sigma**2)
            terms.append(value + np.log(0.9 * w * u))
    return np.asarray(np.logaddexp.reduce(np.array(terms), axis=0))


def least_unknown(n: float, v: float, d: Floats) -> Floats:
    """The least of it over a grid of σ, for each d."""
    centre = np.sqrt(v + d * d)
    centre[centre == 0.0] = 1.0
    grid = np.concatenate([np.geomspace(0.3, 3.0, 41), [6.0, 20.0, 1e3, 1e6]])
    return np.asarray(log_unknown(n, v, d[:, None], centre[:, None] * grid).min(axis=1))


def log_predictions(x: Floats, mean: float, sigma: float) -> float:
    """The same from its definition, reward by reward: Student's law predicts each of them from those before."""
    from scipy.stats import norm
    from scipy.stats import t as student

    terms = [np.log(0.1)]
    for alpha, u in ((0.25, 1.0), (32.0, 3.0)):
        for c, w in PRIORS:
            a, b, m, k, total = alpha, alpha * sigma**2, mean, c, 0.0
            for reward in x.tolist():
                total += float(student.logpdf(reward, 2 * a, m, np.sqrt(b * (k + 1) / (a * k))))
                total -= float(norm.logpdf(reward, mean, sigma))
                b += k * (reward - m) ** 2 / (2 * (k + 1))
                m, k, a = (k * m + reward) / (k + 1), k + 1, a + 0.5
            terms.append(total + np.log(0.9 * w * u))
    return float(np.logaddexp.reduce(terms))
