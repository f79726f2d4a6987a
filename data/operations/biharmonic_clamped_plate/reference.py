import numpy as np


# Thirteen float32 terms with weights that sum to 64 in magnitude on values near 3: about 2e-5 absolute.
TOLERANCE = {"bending": (1e-5, 1e-4)}


def make_inputs(rng, rows, cols):
    y, x = np.indices((rows, cols))
    return {"plate": (2.0 * np.sin(0.6 * x + 0.3 * y) + rng.normal(0.0, 0.7, (rows, cols))).astype(np.float32)}


def reference(inputs):
    a = np.pad(inputs["plate"].astype(np.float64), 2, mode="edge")
    h, w = inputs["plate"].shape

    def at(dy, dx):
        return a[2 + dy : 2 + dy + h, 2 + dx : 2 + dx + w]

    out = 20.0 * at(0, 0) - 8.0 * (at(0, 1) + at(0, -1) + at(1, 0) + at(-1, 0))
    out += 2.0 * (at(1, 1) + at(1, -1) + at(-1, 1) + at(-1, -1)) + at(0, 2) + at(0, -2) + at(2, 0) + at(-2, 0)
    return {"bending": out.astype(np.float32)}
