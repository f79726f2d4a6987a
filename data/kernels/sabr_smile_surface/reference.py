import numpy as np


TOLERANCE = {"volatility": (1e-9, 1e-12)}


def make_inputs(rng, slices, strikes, values="smile"):
    rows = [
        rng.uniform(0.01, 0.1, slices),  # forward
        rng.uniform(0.05, 0.4, slices),  # alpha
        rng.choice([0.0, 0.25, 0.5, 1.0], slices),  # beta
        rng.uniform(-0.8, 0.8, slices),  # rho
        rng.uniform(0.1, 0.9, slices),  # nu
        rng.uniform(0.1, 5.0, slices),  # years
    ]
    rows[1] *= rows[0] ** (1.0 - rows[2])
    moneyness = np.linspace(0.5, 2.0, strikes)
    moneyness[strikes // 2] = 1.0
    if values == "money":
        moneyness[:] = 1.0
    return {
        "sizes": np.array([slices, strikes], dtype=np.int32),
        "parameters": np.stack(rows),
        "moneyness": moneyness,
    }


def reference(inputs):
    forward, alpha, beta, rho, nu, years = (row[:, None] for row in inputs["parameters"])
    strike = forward * inputs["moneyness"]
    gap = np.log(forward / strike)
    mean = (forward * strike) ** (0.5 * (1.0 - beta))
    z = nu / alpha * mean * gap
    near = np.abs(z) < 1e-4
    safe = np.where(near, 1.0, z)
    x = np.log((np.sqrt(1.0 - 2.0 * rho * safe + safe**2) + safe - rho) / (1.0 - rho))
    # z / x(z) to second order around 0
    series = 1.0 - 0.5 * rho * z + (2.0 - 3.0 * rho**2) / 12.0 * z**2
    quotient = np.where(near, series, safe / x)
    b = 1.0 - beta
    bottom = mean * (1.0 + (b * gap) ** 2 / 24.0 + (b * gap) ** 4 / 1920.0)
    drift = (
        (b * alpha / mean) ** 2 / 24.0 + rho * beta * nu * alpha / (4.0 * mean) + (2.0 - 3.0 * rho**2) * nu**2 / 24.0
    )
    return {"volatility": alpha / bottom * quotient * (1.0 + drift * years)}
