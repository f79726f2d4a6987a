import numpy as np


# Integer counts; tau is one division.
TOLERANCE = {"balance": (0, 0), "tau": (1e-6, 1e-7)}


def make_inputs(rng, rows, cols):
    a = rng.standard_normal((rows, cols))
    b = rng.uniform(-1.5, 1.5, (rows, 1)) * a + rng.standard_normal((rows, cols))
    coarse = rng.random((rows, 1)) < 0.5
    return {
        "x": np.where(coarse, np.round(a * 3), a).astype(np.float32),
        "y": np.where(coarse, np.round(b * 2), b).astype(np.float32),
    }


def reference(inputs):
    x, y = inputs["x"], inputs["y"]
    cols = x.shape[1]
    balance = np.zeros(len(x), np.int64)
    for i in range(cols - 1):
        dx = np.sign(x[:, i : i + 1] - x[:, i + 1 :])
        dy = np.sign(y[:, i : i + 1] - y[:, i + 1 :])
        balance += (dx * dy).sum(axis=1).astype(np.int64)
    return {"balance": balance.astype(np.int32), "tau": (balance / (cols * (cols - 1) / 2)).astype(np.float32)}
