import numpy as np


# log1pf and expm1f within a few ulp; a plain powf loses about 1e-3 at small rates and must fail.
TOLERANCE = {"payment": (1e-5, 1e-4), "total": (1e-5, 1e-3)}


def make_inputs(rng, n):
    rate = np.where(rng.random(n) < 0.3, 10.0 ** rng.uniform(-2.0, 0.0, n), rng.uniform(1.0, 18.0, n))
    rate[rng.random(n) < 0.05] = 0.0
    return {
        "principal": np.rint(10.0 ** rng.uniform(3.0, 6.0, n)).astype(np.float32),
        "rate": rate.astype(np.float32),
        "months": rng.integers(1, 481, n).astype(np.int32),
    }


def reference(inputs):
    p, r = inputs["principal"].astype(np.float64), inputs["rate"].astype(np.float64) / 1200.0
    m = inputs["months"].astype(np.float64)
    safe = np.where(r > 0, r, 0.01)
    pay = np.where(r > 0, p * safe / -np.expm1(-m * np.log1p(safe)), p / m)
    return {"payment": pay.astype(np.float32), "total": (pay * m).astype(np.float32)}
