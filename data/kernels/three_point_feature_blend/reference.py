import numpy as np


TOLERANCE = {"blended": (1e-4, 1e-5)}


def make_inputs(rng, channels, coarse, fine, values="random"):
    distance = rng.gamma(2.0, 0.5, (fine, 3))
    if values == "hits":  # a fine point on a coarse one, or on several
        distance[rng.random((fine, 3)) < 0.4] = 0.0
    return {
        "sizes": np.array([channels, coarse, fine], dtype=np.int32),
        "features": rng.normal(0.0, 2.0, (channels, coarse)).astype(np.float32),
        "index": rng.integers(0, coarse, (fine, 3)).astype(np.int32),
        "distance": np.sort(distance, axis=1).astype(np.float32),
    }


def reference(inputs):
    weights = 1.0 / (inputs["distance"].astype(np.float64) + 1e-6)
    weights /= weights.sum(axis=1, keepdims=True)
    features, index = inputs["features"].astype(np.float64), inputs["index"]
    return {"blended": sum(features[:, index[:, s]] * weights[:, s] for s in range(3)).astype(np.float32)}
