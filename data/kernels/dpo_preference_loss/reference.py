import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-5), "grad": (1e-3, 1e-7)}


def make_inputs(rng, pairs, tokens, pattern="normal"):
    cuts = np.sort(rng.integers(0, tokens + 1, 2 * pairs - 1))
    offsets = np.concatenate([[0], cuts, [tokens]])
    offsets[2] = offsets[1]  # an answer without tokens
    base = -rng.exponential(1.0, tokens)
    length = np.repeat(np.diff(offsets), np.diff(offsets))
    policy = base + rng.normal(0.0, 6.0, tokens) / np.sqrt(length)
    if pattern == "extreme":  # margins of hundreds
        policy = base + np.repeat(rng.normal(0.0, 2000.0, 2 * pairs), np.diff(offsets)) / length
    return {
        "sizes": np.array([pairs, tokens], dtype=np.int32),
        "offsets": offsets.astype(np.int32),
        "policy": policy.astype(np.float32),
        "base": base.astype(np.float32),
    }


def reference(inputs):
    lengths = np.diff(inputs["offsets"])
    owner = np.repeat(np.arange(lengths.size), lengths)
    ratio = inputs["policy"].astype(np.float64) - inputs["base"]
    total = np.bincount(owner, weights=ratio, minlength=lengths.size)
    x = 0.125 * (total[0::2] - total[1::2])
    slope = 0.125 * np.exp(-np.logaddexp(0.0, x))
    grad = np.where(owner % 2 == 0, -1.0, 1.0) * slope[owner // 2]
    return {"loss": np.logaddexp(0.0, -x).astype(np.float32), "grad": grad.astype(np.float32)}
