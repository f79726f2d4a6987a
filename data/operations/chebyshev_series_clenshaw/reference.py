import numpy as np


# t carries about 2e-7; the series' slope is below some 20 with decaying coefficients.
TOLERANCE = {"value": (2e-5, 6e-5)}


def make_inputs(rng, n, terms):
    lo = rng.uniform(-3.0, -0.5)
    hi = lo + rng.uniform(1.0, 4.0)
    coef = rng.normal(0.0, 1.0, terms) * 0.7 ** np.arange(terms)
    return {
        "x": rng.uniform(lo + 1e-3, hi - 1e-3, n).astype(np.float32),
        "coef": coef.astype(np.float32),
        "interval": np.array([lo, hi], dtype=np.float32),
    }


def reference(inputs):
    lo, hi = inputs["interval"].astype(np.float64)
    t = (2.0 * inputs["x"].astype(np.float64) - lo - hi) / (hi - lo)
    return {"value": np.polynomial.chebyshev.chebval(t, inputs["coef"].astype(np.float64)).astype(np.float32)}
