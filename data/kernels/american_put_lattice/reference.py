import numpy as np


TOLERANCE = {"values": (1e-8, 1e-8)}


def make_inputs(rng, options, steps, values="mixed"):
    spot = rng.uniform(50.0, 150.0, options)
    strike = spot * rng.uniform(0.7, 1.4, options)
    if values == "deep":  # exercised at once, or worthless
        strike = spot * np.where(np.arange(options) % 2, 3.0, 0.2)
    rows = [
        spot,
        strike,
        rng.uniform(0.0, 0.08, options),
        rng.uniform(0.2, 0.6, options),
        rng.uniform(0.2, 2.0, options),
    ]
    return {"sizes": np.array([options, steps], dtype=np.int32), "contracts": np.stack(rows)}


def reference(inputs):
    steps = int(inputs["sizes"][1])
    spot, strike, rate, volatility, maturity = (row[:, None] for row in inputs["contracts"])
    dt = maturity / steps
    up = np.exp(volatility * np.sqrt(dt))
    discount = np.exp(-rate * dt)
    p = (np.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    j = np.arange(steps + 1)
    value = np.maximum(strike - spot * up ** (2.0 * j - steps), 0.0)
    for level in range(steps - 1, -1, -1):
        j = np.arange(level + 1)
        hold = discount * (p * value[:, 1:] + (1.0 - p) * value[:, :-1])
        value = np.maximum(hold, strike - spot * up ** (2.0 * j - level))
    return {"values": value[:, 0]}
