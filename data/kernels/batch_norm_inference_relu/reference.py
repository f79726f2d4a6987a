import numpy as np


TOLERANCE = {"y": (1e-4, 1e-4)}


def make_inputs(rng, batch, channels, plane, values="normal"):
    mean = rng.normal(0.0, 2.0, channels)
    variance = rng.uniform(0.1, 6.0, channels)
    gamma = rng.normal(0.0, 1.0, channels)  # negative factors turn the ReLU around
    x = rng.normal(0.0, 1.0, (batch, channels, plane)) * np.sqrt(variance)[:, None] + mean[:, None]
    if values == "zero_variance":  # only the 1e-5 keeps these channels finite
        mean[::2] = variance[::2] = 0.0
        x[:, ::2] = rng.integers(-3, 4, x[:, ::2].shape) / 64.0
        gamma[::8] = 0.0
    return {
        "sizes": np.array([batch, channels, plane], dtype=np.int32),
        "x": x.astype(np.float32),
        "mean": mean.astype(np.float32),
        "variance": variance.astype(np.float32),
        "gamma": gamma.astype(np.float32),
        "beta": rng.normal(0.0, 0.5, channels).astype(np.float32),
    }


def reference(inputs):
    x, mean, variance, gamma, beta = (
        inputs[name].astype(np.float64) for name in ("x", "mean", "variance", "gamma", "beta")
    )
    scale = gamma / np.sqrt(variance + 1e-5)
    y = x * scale[:, None] + (beta - mean * scale)[:, None]
    return {"y": np.maximum(y, 0.0).astype(np.float32)}
