import numpy as np


# Sums of up to 8 million confidences; partial sums in float32 lose little, a difference of means is then taken.
TOLERANCE = {"ece": (1e-3, 2e-5), "count": (0, 0)}


def make_inputs(rng, n, bins):
    upper = (np.cumsum(rng.uniform(0.3, 1.0, bins))).astype(np.float32)
    upper = (upper / upper[-1]).astype(np.float32)
    lower = np.concatenate([[0.0], upper[:-1]])
    live = rng.permutation(bins)[: max(bins - 2, 1)]
    b = live[np.minimum((rng.beta(2.0, 1.0, n) * len(live)).astype(int), len(live) - 1)]
    conf = lower[b] + rng.uniform(0.02, 0.98, n) * (upper[b] - lower[b])
    edge = rng.random(n) < 0.01
    conf = np.where(edge, lower[b], conf)
    tilt = rng.uniform(0.4, 0.8)
    return {
        "confidence": conf.astype(np.float32),
        "correct": (rng.random(n) < tilt * conf).astype(np.uint8),
        "upper": upper,
    }


def reference(inputs):
    bins = len(inputs["upper"])
    b = np.searchsorted(inputs["upper"], inputs["confidence"], side="right")
    c = inputs["confidence"].astype(np.float64)
    count = np.bincount(b, minlength=bins)
    gap = np.abs(np.bincount(b, c, bins) - np.bincount(b, inputs["correct"].astype(np.float64), bins))
    return {"ece": np.array([gap.sum() / len(c)], dtype=np.float32), "count": count.astype(np.int32)}
