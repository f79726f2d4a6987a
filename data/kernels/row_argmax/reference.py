import numpy as np


TOLERANCE = {"best_index": (0, 0), "best_value": (0, 0)}


def make_inputs(rng, rows, cols, values="rounded"):
    # Rounded to quarters, so that most rows have several equal maxima.
    scores = np.round(rng.normal(0.0, 2.0, (rows, cols)) * 4) / 4
    if values == "extremes":  # all negative, all equal, increasing, and the largest floats
        scores[0::4] = -np.abs(scores[0::4]) - 1.0e30
        scores[1::4] = 0.0
        scores[2::4] = np.arange(cols)
        scores[3::4, ::5] = 3.0e38
    return {"sizes": np.array([rows, cols], dtype=np.int32), "scores": scores.astype(np.float32)}


def reference(inputs):
    scores = inputs["scores"]
    return {"best_index": scores.argmax(axis=1).astype(np.int32), "best_value": scores.max(axis=1)}
