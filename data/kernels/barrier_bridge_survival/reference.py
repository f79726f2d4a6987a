import numpy as np


TOLERANCE = {"survival": (1e-4, 1e-5), "value": (1e-5, 1e-5)}


def make_inputs(rng, paths, dates, values="wandering"):
    dt = 1.0 / dates
    logs = np.cumsum(0.25 * np.sqrt(dt) * rng.normal(size=(paths, dates)), axis=1)
    prices = 100.0 * np.exp(logs)
    if values == "touching":  # some dates exactly on the barrier
        prices[::3, -1] = 88.0
    terms = np.array([88.0, 100.0, 0.25, dt])
    return {"sizes": np.array([paths, dates], dtype=np.int32), "prices": prices.astype(np.float32), "terms": terms}


def reference(inputs):
    barrier, strike, volatility, dt = inputs["terms"]
    gap = np.log(inputs["prices"].astype(np.float64) / barrier)
    alive = (gap > 0.0).all(axis=1)
    crossed = np.exp(-2.0 * np.maximum(gap[:, :-1], 0) * np.maximum(gap[:, 1:], 0) / (volatility**2 * dt))
    survival = np.where(alive, np.prod(1.0 - crossed, axis=1), 0.0)
    payoff = np.maximum(inputs["prices"][:, -1].astype(np.float64) - strike, 0.0)
    return {"survival": survival.astype(np.float32), "value": np.array([(survival * payoff).mean()])}
