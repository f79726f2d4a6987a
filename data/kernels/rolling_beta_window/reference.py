import numpy as np


TOLERANCE = {"beta": (1e-4, 1e-4), "residual": (1e-3, 1e-5)}


def make_inputs(rng, assets, days, window, values="noisy"):
    market = rng.normal(0.0, 0.01, days)
    loading = rng.uniform(-0.5, 2.0, (assets, 1))
    noise = 0.002 if values == "plain" else 0.01
    returns = loading * market + rng.normal(0.0, noise, (assets, days))
    return {
        "sizes": np.array([assets, days, window], dtype=np.int32),
        "market": market.astype(np.float32),
        "returns": returns.astype(np.float32),
    }


def sums(values, window):
    total = np.concatenate([np.zeros_like(values[..., :1]), np.cumsum(values, axis=-1)], axis=-1)
    return total[..., window:] - total[..., :-window]


def reference(inputs):
    window = int(inputs["sizes"][2])
    x, y = inputs["market"].astype(np.float64), inputs["returns"].astype(np.float64)
    sx, sy = sums(x, window) / window, sums(y, window) / window
    variance = sums(x * x, window) / window - sx**2
    slope = (sums(x * y, window) / window - sx * sy) / variance
    left = np.maximum(sums(y * y, window) / window - sy**2 - slope**2 * variance, 0.0)
    beta, residual = np.zeros_like(y), np.zeros_like(y)
    beta[:, window - 1 :], residual[:, window - 1 :] = slope, np.sqrt(left)
    return {"beta": beta.astype(np.float32), "residual": residual.astype(np.float32)}
