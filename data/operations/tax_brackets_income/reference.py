import numpy as np


# Sums of eight products up to 1e5 in float32; incomes and limits are whole numbers, so the bracket is exact.
TOLERANCE = {"tax": (1e-5, 1e-2), "marginal": (1e-6, 0)}


def make_inputs(rng, people, regions):
    lower = np.cumsum(rng.integers(8, 60, (regions, 8)) * 500, axis=1)
    lower = lower - lower[:, :1]
    rate = rng.integers(5, 45, (regions, 8)) / 100
    region = rng.integers(0, regions, people)
    income = np.floor(rng.gamma(1.8, 38000, people))
    edge = rng.random(people) < 0.05
    income[edge] = lower[region[edge], rng.integers(0, 8, edge.sum())]
    return {
        "income": income.astype(np.float32),
        "region": region.astype(np.int32),
        "lower": lower.astype(np.float32),
        "rate": rate.astype(np.float32),
    }


def reference(inputs):
    x, q = inputs["income"].astype(np.float64), inputs["region"]
    lower, rate = inputs["lower"].astype(np.float64), inputs["rate"].astype(np.float64)
    upper = np.concatenate([lower[:, 1:], np.full((len(lower), 1), np.inf)], axis=1)
    tax, marginal = np.zeros(len(x)), np.zeros(len(x))
    for k in range(8):
        lo = lower[q, k]
        tax += rate[q, k] * np.clip(np.minimum(x, upper[q, k]) - lo, 0, None)
        marginal = np.where(x >= lo, rate[q, k], marginal)
    return {"tax": tax.astype(np.float32), "marginal": marginal.astype(np.float32)}
