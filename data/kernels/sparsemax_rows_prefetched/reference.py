import numpy as np


TOLERANCE = {"weights": (1e-5, 2e-6), "thresholds": (1e-5, 2e-6)}


def make_inputs(rng, rows, cols, values="normal"):
    # Different spreads by row: supports from one element to most of the row, around centres of their own.
    spread = np.exp2(rng.uniform(-12.0, 3.0, (rows, 1)))
    scores = rng.normal(0.0, 1.0, (rows, cols)) * spread + rng.normal(0.0, 2.0, (rows, 1))
    if values == "extremes":
        # Rows in turn: all equal, the last far above the rest, ties for the maximum, a large offset, a line, as usual.
        scores[0::6] = rng.normal(0.0, 5.0, scores[0::6].shape[:1])[:, None]
        scores[1::6] = -3.0e38
        scores[1::6, -1] = 3.0e38
        scores[2::6] = rng.choice([-1.0, 4.0, 4.25], scores[2::6].shape)
        scores[3::6] = 4096.0 + np.round(scores[3::6] * 64.0) / 64.0
        scores[4::6] = -np.arange(cols) / 256.0
    return {"sizes": np.array([rows, cols], dtype=np.int32), "scores": scores.astype(np.float32)}


def reference(inputs):
    scores = inputs["scores"].astype(np.float64)
    descending = -np.sort(-scores, axis=1)
    top = descending[:, :1]
    sums = np.cumsum(descending - top, axis=1) - 1.0
    counts = np.arange(1, scores.shape[1] + 1)
    support = np.count_nonzero((descending - top) * counts > sums, axis=1)[:, None]
    tau = np.take_along_axis(sums, support - 1, axis=1) / support
    return {
        "weights": np.maximum(scores - top - tau, 0.0).astype(np.float32),
        "thresholds": (top + tau)[:, 0].astype(np.float32),
    }
