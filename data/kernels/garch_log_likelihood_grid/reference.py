import numpy as np


TOLERANCE = {"likelihood": (1e-9, 1e-9)}


def make_inputs(rng, days, models, values="lively"):
    returns = rng.standard_t(5, days) * 0.01
    if values == "flat":
        returns[10:] = 0.0
    alpha = rng.uniform(0.01, 0.3, models)
    beta = rng.uniform(0.3, 0.95, models) * (1.0 - alpha)
    omega = 1e-4 * rng.uniform(0.5, 2.0, models) * (1.0 - alpha - beta)
    return {
        "sizes": np.array([days, models], dtype=np.int32),
        "returns": returns.astype(np.float32),
        "parameters": np.stack([omega, alpha, beta]),
    }


def reference(inputs):
    omega, alpha, beta = inputs["parameters"]
    variance = omega / (1.0 - alpha - beta)
    likelihood = np.zeros_like(omega)
    for r in inputs["returns"].astype(np.float64):
        likelihood -= 0.5 * (np.log(2.0 * np.pi * variance) + r * r / variance)
        variance = omega + alpha * r * r + beta * variance
    return {"likelihood": likelihood}
