import heapq

import numpy as np


TOLERANCE = {"core": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="dense middle"):
    # Low numbers are joined more often: nested cores, and vertices without edges at the end.
    codes = np.empty(0, dtype=np.int64)
    if pattern == "tree":  # a random tree and a few more edges
        child = np.arange(1, vertices)
        codes = (rng.random(vertices - 1) * child).astype(np.int64) * vertices + child
    while codes.size < edges:
        a, b = (vertices * rng.random((2, 2 * edges)) ** 2).astype(np.int64)
        fresh = np.setdiff1d((np.minimum(a, b) * vertices + np.maximum(a, b))[a != b], codes)
        codes = np.concatenate([codes, rng.permutation(fresh)[: edges - codes.size]])
    order = rng.permutation(vertices)
    a, b = order[codes // vertices], order[codes % vertices]
    tails, heads = np.concatenate([a, b]), np.concatenate([b, a])
    by_tail = np.argsort(tails, kind="stable")
    counts = np.bincount(tails, minlength=vertices)
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "neighbors": heads[by_tail].astype(np.int32),
    }


def reference(inputs):
    row_ptr, neighbors = inputs["row_ptr"].tolist(), inputs["neighbors"].tolist()
    degree = np.diff(inputs["row_ptr"]).tolist()
    core = [-1] * len(degree)
    heap = [(d, v) for v, d in enumerate(degree)]
    heapq.heapify(heap)
    level = 0
    while heap:
        d, v = heapq.heappop(heap)
        if core[v] >= 0:
            continue
        level = max(level, d)
        core[v] = level
        for w in neighbors[row_ptr[v] : row_ptr[v + 1]]:
            if core[w] < 0:
                degree[w] -= 1
                heapq.heappush(heap, (degree[w], w))
    return {"core": np.array(core, dtype=np.int32)}
