import numpy as np


# A square root near 1 minus 1 cancels for orbits that are close: 1e-7 times a speed of 8 km/s absolute.
TOLERANCE = {"burns": (1e-4, 5e-6), "hours": (1e-5, 1e-6)}


def make_inputs(rng, n):
    return {
        "inner": rng.uniform(6600.0, 20000.0, n).astype(np.float32),
        "outer": rng.uniform(7000.0, 60000.0, n).astype(np.float32),
    }


def reference(inputs):
    a, b = inputs["inner"].astype(np.float64), inputs["outer"].astype(np.float64)
    mu = 398600.4418
    first = np.sqrt(mu / a) * (np.sqrt(2.0 * b / (a + b)) - 1.0)
    second = np.sqrt(mu / b) * (1.0 - np.sqrt(2.0 * a / (a + b)))
    hours = np.pi * np.sqrt((0.5 * (a + b)) ** 3 / mu) / 3600.0
    return {"burns": np.stack([first, second], axis=1).astype(np.float32), "hours": hours.astype(np.float32)}
