import numpy as np


TOLERANCE = {"ancestor": (0, 0)}


def make_inputs(rng, nodes, queries, pattern="random"):
    place = np.arange(nodes)
    above = np.maximum(place - 1 - rng.exponential(40.0, nodes).astype(np.int64), 0)
    if pattern == "chain":
        above = np.maximum(place - 1, 0)
    query = rng.integers(0, nodes, (queries, 2))
    close = rng.random(queries) < 0.5
    query[close, 1] = np.minimum(query[close, 0] + rng.integers(0, 60, close.sum()), nodes - 1)
    order = rng.permutation(nodes)
    parent = np.empty(nodes, dtype=np.int32)
    parent[order] = order[above]
    return {
        "sizes": np.array([nodes, queries], dtype=np.int32),
        "parent": parent,
        "query": order[query].astype(np.int32),
    }


def reference(inputs):
    parent = inputs["parent"]
    up = [parent]
    while not np.array_equal(up[-1], up[-1][up[-1]]):
        up.append(up[-1][up[-1]])
    depth, here = np.zeros(parent.size, dtype=np.int64), np.arange(parent.size)
    root = int(np.flatnonzero(parent == here)[0])
    for k in range(len(up) - 1, -1, -1):
        far = up[k][here] != root
        depth += far << k
        here = np.where(far, up[k][here], here)
    depth += here != root
    a, b = inputs["query"].T
    a, b = np.where(depth[a] >= depth[b], a, b), np.where(depth[a] >= depth[b], b, a)
    rise = depth[a] - depth[b]
    for k, step in enumerate(up):
        a = np.where(rise >> k & 1 == 1, step[a], a)
    for step in reversed(up):
        differ = step[a] != step[b]
        a, b = np.where(differ, step[a], a), np.where(differ, step[b], b)
    return {"ancestor": np.where(a == b, a, parent[a]).astype(np.int32)}
