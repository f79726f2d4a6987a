import numpy as np


TOLERANCE = {"terminal": (1e-3, 1e-4)}


def make_inputs(rng, paths, steps, values="calm"):
    # spot, first variance, rate, reversion, long-run variance, volatility of variance, correlation, years
    model = [100.0, 0.09, 0.02, 1.5, 0.08, 0.3, -0.6, 1.0]
    if values == "rough":  # the variance often wants to be negative
        model = [50.0, 0.02, 0.0, 0.5, 0.03, 0.9, -0.9, 2.0]
    return {
        "sizes": np.array([paths, steps], dtype=np.int32),
        "model": np.array(model, dtype=np.float32),
        "normals": rng.normal(size=(steps, paths, 2)).astype(np.float32),
    }


def reference(inputs):
    spot, variance, rate, reversion, mean, spread, correlation, years = inputs["model"].astype(np.float64)
    steps, paths = (int(size) for size in inputs["sizes"][::-1])
    dt = years / steps
    v, log_price = np.full(paths, variance), np.zeros(paths)
    for z in inputs["normals"].astype(np.float64):
        positive = np.maximum(v, 0.0)
        root = np.sqrt(positive * dt)
        log_price += (rate - 0.5 * positive) * dt + root * z[:, 0]
        mixed = correlation * z[:, 0] + np.sqrt(1.0 - correlation**2) * z[:, 1]
        v += reversion * (mean - positive) * dt + spread * root * mixed
    return {"terminal": np.stack([spot * np.exp(log_price), np.maximum(v, 0.0)]).astype(np.float32)}
