import numpy as np


TOLERANCE = {"new_residual": (0, 0), "sent_index": (0, 0), "sent_value": (0, 0), "sent_count": (0, 0)}


def make_inputs(rng, count, pattern="few"):
    grad, residual = rng.normal(0.0, 1.0, count), rng.normal(0.0, 0.4, count)
    threshold = 1.5
    if pattern == "all":  # nothing stays behind, and many entries are equal to the threshold
        threshold = 0.25
        grad = rng.choice([-0.75, -0.5, 0.5, 0.75], count)
        residual = -np.sign(grad) * 0.25
    return {
        "sizes": np.array([count], dtype=np.int32),
        "grad": grad.astype(np.float32),
        "residual": residual.astype(np.float32),
        "threshold": np.array([threshold], dtype=np.float32),
    }


def reference(inputs):
    total = inputs["residual"] + inputs["grad"]
    sent = np.abs(total) >= inputs["threshold"][0]
    where = np.flatnonzero(sent)
    index = np.full(total.size, -1, dtype=np.int32)
    value = np.zeros(total.size, dtype=np.float32)
    index[: where.size], value[: where.size] = where, total[where]
    return {
        "new_residual": np.where(sent, np.float32(0.0), total),
        "sent_index": index,
        "sent_value": value,
        "sent_count": np.array([where.size], dtype=np.int32),
    }
