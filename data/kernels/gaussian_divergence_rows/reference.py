import numpy as np


TOLERANCE = {"divergence": (1e-4, 1e-7), "mean_grad": (1e-4, 1e-7), "log_var_grad": (1e-4, 1e-7)}


def make_inputs(rng, rows, quads, pattern="apart"):
    # Multiples of 1/4096, so that differences are exact in float32.
    spread = 1.0 if pattern == "apart" else 0.001  # close: almost the same distribution
    mean_p, log_var_p = rng.normal(0.0, 1.0, (2, rows, 4 * quads))
    mean_q = mean_p + spread * rng.normal(0.0, 1.0, (rows, 4 * quads))
    log_var_q = log_var_p + spread * rng.normal(-0.3, 0.6, (rows, 4 * quads))
    grid = {
        name: (np.round(4096 * values) / 4096).astype(np.float32)
        for name, values in (
            ("mean_q", mean_q),
            ("log_var_q", log_var_q),
            ("mean_p", mean_p),
            ("log_var_p", log_var_p),
        )
    }
    return {"sizes": np.array([rows, quads], dtype=np.int32), **grid}


def reference(inputs):
    d = inputs["mean_q"].astype(np.float64) - inputs["mean_p"]
    log_var_p = inputs["log_var_p"].astype(np.float64)
    ratio = inputs["log_var_q"] - log_var_p
    grown = np.expm1(ratio)
    return {
        "divergence": ((d**2 * np.exp(-log_var_p) + grown - ratio) / 2).sum(axis=1).astype(np.float32),
        "mean_grad": (d * np.exp(-log_var_p)).astype(np.float32),
        "log_var_grad": (grown / 2).astype(np.float32),
    }
