import numpy as np


TOLERANCE = {"path": (0, 0)}


def make_inputs(rng, vertices, edges, walkers, steps, pattern="random"):
    tails = rng.integers(0, vertices, edges)
    if pattern == "dead":  # most vertices have no edge out
        tails = rng.choice(rng.permutation(vertices)[: vertices // 2], edges)
    return {
        "sizes": np.array([vertices, edges, walkers, steps], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=vertices))]).astype(np.int32),
        "neighbors": rng.integers(0, vertices, edges).astype(np.int32),
        "start": rng.choice(tails, walkers).astype(np.int32),
        "seed": rng.integers(0, 2**32, 1, dtype=np.uint32),
    }


def reference(inputs):
    walkers, steps = inputs["sizes"][2:].tolist()
    row_ptr, mask = inputs["row_ptr"].astype(np.int64), np.uint64(0xFFFFFFFF)
    mixed = np.arange(walkers, dtype=np.uint64) * np.uint64(0x9E3779B1) & mask ^ inputs["seed"].astype(np.uint64)
    path = np.full((walkers, steps + 1), -1, dtype=np.int32)
    path[:, 0] = inputs["start"]
    for t in range(steps):
        x = mixed ^ np.uint64(t * 0x85EBCA77 & 0xFFFFFFFF)
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            x = (x ^ x >> np.uint64(shift)) * np.uint64(factor) & mask
        x ^= x >> np.uint64(16)
        alive = np.flatnonzero(path[:, t] >= 0)
        v = path[alive, t]
        degree = row_ptr[v + 1] - row_ptr[v]
        alive, v, degree = alive[degree > 0], v[degree > 0], degree[degree > 0]
        chosen = (x[alive] * degree.astype(np.uint64) >> np.uint64(32)).astype(np.int64)
        path[alive, t + 1] = inputs["neighbors"][row_ptr[v] + chosen]
    return {"path": path}
