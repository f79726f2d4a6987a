import numpy as np


# A square root and a normalised vector in float32; eigenvalues may cancel to near zero.
TOLERANCE = {"values": (1e-5, 1e-5), "axis": (2e-5, 2e-5)}


def make_inputs(rng, count):
    s = rng.uniform(-4.0, 4.0, (count, 3))
    s[:, 1] = rng.uniform(0.2, 2.0, count) * rng.choice([-1.0, 1.0], count)
    return {"s": s.astype(np.float32)}


def reference(inputs):
    p, q, r = inputs["s"].astype(np.float64).T
    middle, half = 0.5 * (p + r), np.hypot(0.5 * (p - r), q)
    angle = 0.5 * np.arctan2(2.0 * q, p - r)
    axis = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    axis *= np.sign(axis[:, 1:])
    return {
        "values": np.stack([middle + half, middle - half], axis=1).astype(np.float32),
        "axis": axis.astype(np.float32),
    }
