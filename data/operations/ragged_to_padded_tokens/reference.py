import numpy as np


# Integers: exact.
TOLERANCE = {"padded": (0, 0), "lost": (0, 0)}


def make_inputs(rng, batch, total):
    share = rng.exponential(1.0, batch) + 2.0 * (rng.random(batch) < 0.2)
    share[::11] = 0.0
    cut = np.floor(np.cumsum(share) / share.sum() * total).astype(np.int32)
    cut[-1] = total
    offsets = np.concatenate([[0], cut]).astype(np.int32)
    return {"values": rng.integers(0, 50000, total).astype(np.int32), "offsets": offsets}


def reference(inputs):
    v, o = inputs["values"], inputs["offsets"].astype(np.int64)
    lost = np.maximum(o[1:] - o[:-1] - 160, 0)
    source = (o[:-1] + lost)[:, None] + np.arange(160)
    padded = np.where(source < o[1:, None], v[np.minimum(source, len(v) - 1)], -1)
    return {"padded": padded.astype(np.int32), "lost": lost.astype(np.int32)}
