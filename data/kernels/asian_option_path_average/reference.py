import numpy as np


TOLERANCE = {"payoffs": (1e-4, 5e-3), "summary": (1e-4, 1e-3)}


def make_inputs(rng, paths, dates, values="lively"):
    volatility = 0.02 if values == "calm" else 0.3
    return {
        "sizes": np.array([paths, dates], dtype=np.int32),
        "market": np.array([100.0, 101.0, 0.03, volatility, 1.5], dtype=np.float32),
        "normals": rng.normal(size=(dates, paths)).astype(np.float32),
    }


def reference(inputs):
    spot, strike, rate, volatility, maturity = inputs["market"].astype(np.float64)
    dates = int(inputs["sizes"][1])
    dt = maturity / dates
    moves = (rate - 0.5 * volatility**2) * dt + volatility * np.sqrt(dt) * inputs["normals"].astype(np.float64)
    logs = np.log(spot) + np.cumsum(moves, axis=0)
    discount = np.exp(-rate * maturity)
    means = [np.exp(logs).mean(axis=0), np.exp(logs.mean(axis=0))]
    payoffs = np.stack([discount * np.maximum(mean - strike, 0.0) for mean in means])
    summary = [payoffs[0].mean(), payoffs[0].std(), payoffs[1].mean(), payoffs[1].std()]
    return {"payoffs": payoffs.astype(np.float32), "summary": np.array(summary)}
