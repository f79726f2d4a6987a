import numpy as np


# Counts are integers: exact. The recurrence is backward stable in float64, shifts do not hit eigenvalues to 13 digits.
TOLERANCE = {"below": (0, 0)}


def make_inputs(rng, n, shifts):
    return {
        "diag": rng.normal(0.0, 2.0, n),
        "off": rng.uniform(0.1, 1.5, n - 1) * rng.choice([-1.0, 1.0], n - 1),
        "shift": rng.uniform(-6.0, 6.0, shifts),
    }


def reference(inputs):
    diag, off, s = inputs["diag"], inputs["off"], inputs["shift"]
    q = diag[0] - s
    below = (q < 0).astype(np.int32)
    for i in range(1, len(diag)):
        q = diag[i] - s - off[i - 1] ** 2 / np.where(q == 0.0, 1e-300, q)
        below += q < 0
    return {"below": below}
