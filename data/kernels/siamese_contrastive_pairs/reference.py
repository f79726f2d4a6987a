import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-5)}


def make_inputs(rng, items, width, pairs, pattern="mixed"):
    # Items lie near eight centres, so that distances fall on both sides of the margin.
    centres = rng.normal(0.0, 1.0 / np.sqrt(width), (8, width))
    embeddings = centres[rng.integers(0, 8, items)] + rng.normal(0.0, 0.3 / np.sqrt(width), (items, width))
    if pattern == "close":  # tiny distances, where the root is steep
        embeddings = centres[0] + rng.normal(0.0, 0.01, (items, width)) * (rng.random((items, 1)) < 0.7)
    index = rng.integers(0, items, (pairs, 2), dtype=np.int32)
    index[::9, 1] = index[::9, 0]
    return {
        "sizes": np.array([items, width, pairs], dtype=np.int32),
        "embeddings": embeddings.astype(np.float32),
        "pair_index": index,
        "same": rng.integers(0, 2, pairs).astype(np.uint8),
    }


def reference(inputs):
    rows = inputs["embeddings"].astype(np.float64)
    loss = np.empty(inputs["same"].size)
    for begin in range(0, loss.size, 8192):
        part = slice(begin, begin + 8192)
        a, b = inputs["pair_index"][part].T
        distance = np.sqrt(((rows[a] - rows[b]) ** 2).sum(axis=1))
        apart = np.maximum(0.0, 1.0 - distance)
        loss[part] = np.where(inputs["same"][part] == 1, distance, apart) ** 2 / 2
    return {"loss": loss.astype(np.float32)}
