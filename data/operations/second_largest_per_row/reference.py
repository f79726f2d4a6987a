import numpy as np


# Values are copied and positions are integers: exact.
TOLERANCE = {"second": (0, 0), "where": (0, 0)}


def make_inputs(rng, rows, cols):
    scores = np.stack([rng.permutation(cols) for _ in range(rows)]).astype(np.float32)
    return {"scores": scores * np.float32(0.25) - rng.integers(0, cols, (rows, 1)).astype(np.float32)}


def reference(inputs):
    order = np.argsort(inputs["scores"], axis=1)[:, -2]
    return {"second": inputs["scores"][np.arange(len(order)), order], "where": order.astype(np.int32)}
