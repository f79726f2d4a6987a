import numpy as np


# At most four quotients are added in float32.
TOLERANCE = {"grad_in": (1e-5, 1e-6)}


def make_inputs(rng, planes, height, width):
    return {"grad_out": rng.normal(0.0, 2.0, (planes, height // 2, width // 2)).astype(np.float32)}


def reference(inputs):
    g = inputs["grad_out"].astype(np.float64)
    p, h2, w2 = g.shape
    rows, cols = np.full(h2, 3.0), np.full(w2, 3.0)
    rows[0] = cols[0] = 2.0
    g = g / (rows[:, None] * cols[None, :])
    out = np.zeros((p, 2 * h2 + 1, 2 * w2 + 1))
    for a in range(3):
        for b in range(3):
            out[:, a : a + 2 * h2 - 1 : 2, b : b + 2 * w2 - 1 : 2] += g
    return {"grad_in": out[:, 1:, 1:].astype(np.float32)}
