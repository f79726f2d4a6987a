import numpy as np


TOLERANCE = {"y": (1e-4, 1e-4)}


def make_inputs(rng, rows, n, depth, values="noise"):
    x = np.repeat(rng.normal(0.0, 3.0, (rows, n // 6 + 1)), 6, axis=1)[:, :n] + rng.normal(0.0, 0.5, (rows, n))
    threshold = rng.uniform(0.2, 2.0, rows)
    if values == "steps":  # no noise; a threshold of 0 gives the signal back, a large one the means
        x = 4.0 * rng.integers(0, 2, (rows, n))
        threshold[:3] = [0.0, 100.0, 2.0]
    return {
        "sizes": np.array([rows, n, depth], dtype=np.int32),
        "x": x.astype(np.float32),
        "threshold": threshold.astype(np.float32),
    }


def reference(inputs):
    rows, _, depth = map(int, inputs["sizes"])
    x, limit = inputs["x"].astype(np.float64), inputs["threshold"].astype(np.float64)[:, None]
    total = np.zeros(x.shape)
    for shift in range(2**depth):
        low, details = np.roll(x, -shift, axis=1), []
        for _ in range(depth):
            high = (low[:, 0::2] - low[:, 1::2]) / np.sqrt(2.0)
            details.append(np.sign(high) * np.maximum(np.abs(high) - limit, 0.0))
            low = (low[:, 0::2] + low[:, 1::2]) / np.sqrt(2.0)
        for high in reversed(details):
            low = np.stack([low + high, low - high], axis=2).reshape(rows, -1) / np.sqrt(2.0)
        total += np.roll(low, shift, axis=1)
    return {"y": (total / 2**depth).astype(np.float32)}
