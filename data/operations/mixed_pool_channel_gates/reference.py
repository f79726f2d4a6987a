import numpy as np


# Sums of at most nine float32 terms and one blend.
TOLERANCE = {"y": (1e-5, 2e-6)}


def make_inputs(rng, batch, channels, height, width):
    return {
        "x": rng.normal(-0.5, 1.5, (batch, channels, height, width)).astype(np.float32),
        "gate": rng.uniform(0, 1, channels).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"]
    h, w = x.shape[2:]
    oh, ow = (h + 1) // 2, (w + 1) // 2
    edge = ((0, 0), (0, 0), (1, 2), (1, 2))
    p, q = np.pad(x, edge, constant_values=-np.inf), np.pad(x, edge)
    ones = np.pad(np.ones((1, 1, h, w)), edge)
    top = np.full((*x.shape[:2], oh, ow), -np.inf, dtype=np.float32)
    total, count = np.zeros(top.shape), np.zeros((1, 1, oh, ow))
    for dy in range(3):
        for dx in range(3):
            part = (slice(None), slice(None), slice(dy, dy + 2 * oh - 1, 2), slice(dx, dx + 2 * ow - 1, 2))
            top = np.maximum(top, p[part])
            total += q[part]
            count += ones[part]
    g = inputs["gate"].astype(np.float64)[:, None, None]
    return {"y": (g * top + (1 - g) * total / count).astype(np.float32)}
