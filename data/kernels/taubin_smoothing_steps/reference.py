import numpy as np


TOLERANCE = {"smoothed": (1e-4, 1e-4)}


def make_inputs(rng, n, links, steps, values="mesh"):
    owner = rng.integers(0, n, links)
    if values == "lonely":  # half of the points have no neighbour
        owner = rng.integers(0, n // 2, links)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))])
    return {
        "sizes": np.array([n, links, steps], dtype=np.int32),
        "points": rng.normal(0.0, 10.0, (n, 3)).astype(np.float32),
        "offsets": offsets.astype(np.int32),
        "neighbors": rng.integers(0, n, links).astype(np.int32),
        "factors": np.array([0.5, -0.53], dtype=np.float32),
    }


def reference(inputs):
    points, offsets = inputs["points"].astype(np.float64), inputs["offsets"]
    degree = np.diff(offsets)
    owner = np.repeat(np.arange(len(points)), degree)
    for step in range(int(inputs["sizes"][2])):
        near = points[inputs["neighbors"]]
        total = np.stack([np.bincount(owner, weights=axis, minlength=len(points)) for axis in near.T], axis=1)
        mean = np.where(degree[:, None] > 0, total / np.maximum(degree, 1)[:, None], points)
        points = points + float(inputs["factors"][step % 2]) * (mean - points)
    return {"smoothed": points.astype(np.float32)}
