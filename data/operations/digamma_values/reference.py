import numpy as np


# The truncated series is good to 3e-9; six reciprocals of up to 20 are summed in float32 (absolute 1e-6 to 3e-6).
TOLERANCE = {"psi": (1e-5, 5e-6)}


def make_inputs(rng, rows, cols):
    x = np.where(
        rng.random((rows, cols)) < 0.6,
        rng.uniform(0.05, 7.0, (rows, cols)),
        10.0 ** rng.uniform(0.5, 2.0, (rows, cols)),
    )
    return {"x": np.clip(x, 0.05, 100.0).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    psi = np.zeros_like(x)
    for _ in range(10):
        low = x < 10.0
        psi -= np.where(low, 1.0 / x, 0.0)
        x = np.where(low, x + 1.0, x)
    q = 1.0 / (x * x)
    psi += np.log(x) - 0.5 / x - q * (1.0 / 12.0 - q * (1.0 / 120.0 - q * (1.0 / 252.0 - q / 240.0)))
    return {"psi": psi.astype(np.float32)}
