import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-5), "grad": (1e-3, 1e-6)}


def make_inputs(rng, rows, classes, pattern="mixed"):
    targets = rng.random((rows, classes)) < 0.2
    logits = rng.normal(-1.0, 2.0, (rows, classes)) + 2.0 * targets
    if pattern == "saturated":  # certain, and wrong in half of the cases
        logits = rng.choice([-100.0, -30.0, 0.0, 30.0, 100.0], (rows, classes))
    return {
        "sizes": np.array([rows, classes], dtype=np.int32),
        "logits": logits.astype(np.float32),
        "targets": targets.astype(np.uint8),
        "alpha": rng.uniform(0.1, 0.9, classes).astype(np.float32),
    }


def reference(inputs):
    yes = inputs["targets"] == 1
    x, alpha = inputs["logits"].astype(np.float64), inputs["alpha"].astype(np.float64)
    z = np.where(yes, x, -x)
    a = np.where(yes, alpha, 1.0 - alpha)
    log_p = -np.logaddexp(0.0, -z)
    log_q = -np.logaddexp(0.0, z)
    p, q = np.exp(log_p), np.exp(log_q)
    slope = a * q**2 * (2 * p * log_p - q)
    return {
        "loss": (-a * q**2 * log_p).sum(axis=1).astype(np.float32),
        "grad": np.where(yes, slope, -slope).astype(np.float32),
    }
