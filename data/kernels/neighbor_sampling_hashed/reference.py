import numpy as np


TOLERANCE = {"sample": (0, 0), "taken": (0, 0)}


def make_inputs(rng, vertices, edges, seeds, fanout, pattern="random"):
    tails = rng.choice(np.flatnonzero(np.arange(vertices) % 9 != 4), edges)
    if pattern == "hubs":  # five vertices have almost all edges
        tails[: edges - 60] = rng.integers(0, 5, edges - 60)
    return {
        "sizes": np.array([vertices, edges, seeds, fanout], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=vertices))]).astype(np.int32),
        "neighbors": rng.integers(0, vertices, edges).astype(np.int32),
        "seed": rng.integers(0, vertices, seeds).astype(np.int32),
    }


def reference(inputs):
    row_ptr, neighbors, fanout = inputs["row_ptr"], inputs["neighbors"], int(inputs["sizes"][3])
    mask = np.uint64(0xFFFFFFFF)
    x = np.arange(neighbors.size, dtype=np.uint64) * np.uint64(0x9E3779B9) & mask
    x = (x ^ x >> np.uint64(16)) * np.uint64(0x21F0AAAD) & mask
    x = (x ^ x >> np.uint64(15)) * np.uint64(0x735A2D97) & mask
    x ^= x >> np.uint64(15)
    owner = np.repeat(np.arange(row_ptr.size - 1), np.diff(row_ptr))
    ordered = neighbors[np.lexsort((np.arange(x.size), x, owner))]  # each list by key
    begin, length = row_ptr[inputs["seed"]], np.diff(row_ptr)[inputs["seed"]]
    column = np.arange(fanout)
    place = np.minimum(begin[:, None] + column, neighbors.size - 1)
    sample = np.where(column < length[:, None], ordered[place], -1)
    return {"sample": sample.astype(np.int32), "taken": np.minimum(length, fanout).astype(np.int32)}
