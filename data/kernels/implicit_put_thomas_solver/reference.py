import numpy as np


TOLERANCE = {"values": (1e-8, 1e-9)}


def make_inputs(rng, options, nodes, steps, values="usual"):
    strike = rng.uniform(50.0, 150.0, options)
    volatility = rng.uniform(0.1, 0.5, options) if values == "usual" else np.full(options, 0.01)
    rows = [strike, rng.uniform(0.0, 0.08, options), volatility, rng.uniform(0.2, 2.0, options)]
    return {"sizes": np.array([options, nodes, steps], dtype=np.int32), "contracts": np.stack(rows)}


def reference(inputs):
    strike, rate, volatility, maturity = inputs["contracts"]
    _, nodes, steps = (int(size) for size in inputs["sizes"])
    dt = maturity / steps
    j = np.arange(nodes)[:, None]
    price = 3.0 * strike * j / (nodes - 1)
    value = np.maximum(strike - price, 0.0)
    square = volatility**2 * j**2
    lower, upper = -0.5 * dt * (square - rate * j), -0.5 * dt * (square + rate * j)
    middle = 1.0 + dt * (square + rate)
    ratio, pivot = np.zeros_like(value), np.ones_like(value)
    for k in range(1, nodes - 1):
        pivot[k] = middle[k] - lower[k] * ratio[k - 1]
        ratio[k] = upper[k] / pivot[k]
    for step in range(1, steps + 1):
        value[0] = strike * np.exp(-rate * dt * step)
        value[-1] = 0.0
        for k in range(1, nodes - 1):
            value[k] = (value[k] - lower[k] * value[k - 1]) / pivot[k]
        for k in range(nodes - 2, 0, -1):
            value[k] -= ratio[k] * value[k + 1]
    return {"values": value}
