import numpy as np


TOLERANCE = {"reached": (0, 0), "distance_sum": (0, 0)}


def make_inputs(rng, vertices, edges, sources, pattern="random"):
    # Edges stay within six parts of different sizes, so that components differ.
    a = rng.integers(0, vertices, edges)
    part = vertices * np.array([0, 1, 3, 7, 15, 40, 128]) // 128
    low = part[np.searchsorted(part, a, side="right") - 1]
    high = np.append(part, vertices)[np.searchsorted(part, a, side="right")]
    b = low + (rng.random(edges) * (high - low)).astype(np.int64)
    if pattern == "path":
        a, b = np.arange(vertices - 1), np.arange(1, vertices)
    order = rng.permutation(vertices)
    tails, heads = order[np.concatenate([a, b])], order[np.concatenate([b, a])]
    by_tail = np.argsort(tails, kind="stable")
    counts = np.bincount(tails, minlength=vertices)
    return {
        "sizes": np.array([vertices, edges, sources], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "neighbors": heads[by_tail].astype(np.int32),
        "source": rng.choice(tails, sources).astype(np.int32),
    }


def reference(inputs):
    sources = inputs["source"]
    vertices, heads = inputs["row_ptr"].size - 1, inputs["neighbors"]
    owners = np.flatnonzero(np.diff(inputs["row_ptr"]))  # vertices with neighbours
    starts = inputs["row_ptr"][owners]
    bits = np.uint64(1) << np.arange(sources.size, dtype=np.uint64)
    seen = np.zeros(vertices, dtype=np.uint64)
    np.bitwise_or.at(seen, sources, bits)
    frontier = seen.copy()
    reached, distance = np.ones(sources.size, dtype=np.int64), np.zeros(sources.size, dtype=np.int64)
    for depth in range(1, vertices + 1):
        fresh = np.zeros_like(seen)
        fresh[owners] = np.bitwise_or.reduceat(frontier[heads], starts)
        fresh &= ~seen
        seen |= fresh
        frontier = fresh
        new = fresh[fresh != 0]
        if new.size == 0:
            break
        count = np.array([np.count_nonzero(new & bit) for bit in bits])
        reached += count
        distance += depth * count
    return {"reached": reached.astype(np.int32), "distance_sum": distance}
