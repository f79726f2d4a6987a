import numpy as np


TOLERANCE = {"source_mean": (1e-9, 1e-9), "target_mean": (1e-9, 1e-9), "covariance": (1e-7, 1e-7)}


def make_inputs(rng, sources, targets, pairs, values="random"):
    source = rng.normal((20.0, -35.0, 4.0), (3.0, 2.0, 1.0), (sources, 3))
    target = rng.normal((18.0, -30.0, 6.0), (2.0, 3.0, 1.5), (targets, 3))
    match = np.stack([rng.integers(0, sources, pairs), rng.integers(0, targets, pairs)], axis=1)
    if values == "same point":  # all pairs name one source point, whose distance from the mean is 0
        match[:, 0] = sources - 1
    elif pairs > 100:
        # targets follow their partners, so that the covariance is not only noise
        target[match[:, 1]] += 0.5 * source[match[:, 0]]
    return {
        "sizes": np.array([sources, targets, pairs], dtype=np.int32),
        "source": source.astype(np.float32),
        "target": target.astype(np.float32),
        "match": match.astype(np.int32),
    }


def reference(inputs):
    match = inputs["match"]
    p = inputs["source"].astype(np.float64)[match[:, 0]]
    q = inputs["target"].astype(np.float64)[match[:, 1]]
    covariance = (p - p.mean(axis=0)).T @ (q - q.mean(axis=0)) / len(match)
    return {"source_mean": p.mean(axis=0), "target_mean": q.mean(axis=0), "covariance": covariance}
