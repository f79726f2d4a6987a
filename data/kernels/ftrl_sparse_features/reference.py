import numpy as np


TOLERANCE = {"new_z": (1e-4, 1e-5), "new_n": (1e-4, 1e-5), "weights": (1e-4, 1e-5)}


def make_inputs(rng, features, active, pattern="mixed"):
    z, n = rng.normal(0.0, 1.5, features), rng.exponential(2.0, features)
    grad = rng.normal(0.0, 1.0, active)
    if pattern == "sparse":  # most weights are zero, many accumulators and gradients, too
        z *= 0.2
        n[::2] = 0.0
        grad[::3] = 0.0
    return {
        "sizes": np.array([features, active], dtype=np.int32),
        "z": z.astype(np.float32),
        "n": n.astype(np.float32),
        "index": rng.permutation(features)[:active].astype(np.int32),
        "grad": grad.astype(np.float32),
    }


def weight(z, n):
    return np.where(np.abs(z) <= 0.5, 0.0, -(z - np.sign(z) * 0.5) / ((1 + np.sqrt(n)) / 0.1 + 0.25))


def reference(inputs):
    z, n = inputs["z"].astype(np.float64), inputs["n"].astype(np.float64)
    f, g = inputs["index"], inputs["grad"].astype(np.float64)
    old = weight(z[f], n[f])
    z[f] += g - (np.sqrt(n[f] + g**2) - np.sqrt(n[f])) / 0.1 * old
    n[f] += g**2
    results = {"new_z": z, "new_n": n, "weights": weight(z, n)}
    return {name: values.astype(np.float32) for name, values in results.items()}
