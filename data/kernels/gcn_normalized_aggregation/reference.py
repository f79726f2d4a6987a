import numpy as np


TOLERANCE = {"output": (1e-4, 1e-5)}


def make_inputs(rng, vertices, entries, width, pattern="skewed"):
    # Low numbers have long lists, the last tenth has none.
    tails = (max(1, vertices - vertices // 10) * rng.random(entries) ** 2).astype(np.int64)
    if pattern == "isolated":
        tails[:] = rng.choice([3, vertices - 1], entries)
    return {
        "sizes": np.array([vertices, entries, width], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=vertices))]).astype(np.int32),
        "neighbors": rng.integers(0, vertices, entries).astype(np.int32),
        "features": rng.normal(0.0, 1.0, (vertices, width)).astype(np.float32),
    }


def reference(inputs):
    features, row_ptr = inputs["features"].astype(np.float64), inputs["row_ptr"]
    factor = 1.0 / np.sqrt(np.diff(row_ptr) + 1.0)
    scaled = features * factor[:, None]
    total = scaled.copy()
    for v in np.flatnonzero(np.diff(row_ptr)):
        total[v] += scaled[inputs["neighbors"][row_ptr[v] : row_ptr[v + 1]]].sum(axis=0)
    return {"output": (total * factor[:, None]).astype(np.float32)}
