import numpy as np


# Integers: exact.
TOLERANCE = {"common": (0, 0), "first": (0, 0)}


def make_inputs(rng, nodes, edges, pairs):
    span = 2 * (edges // nodes) + 10
    slot = np.sort(rng.choice(nodes * span, edges, replace=False))
    owner = slot // span
    other = (owner + slot % span - span // 2) % nodes
    order = np.lexsort((other, owner))
    a = rng.integers(0, nodes, pairs)
    b = (a + rng.integers(-span, span + 1, pairs)) % nodes
    return {
        "row_start": np.searchsorted(owner, np.arange(nodes + 1)).astype(np.int32),
        "neighbor": other[order].astype(np.int32),
        "pair": np.stack([a, b], axis=1).astype(np.int32),
    }


def reference(inputs):
    start, neighbor, pair = inputs["row_start"].astype(np.int64), inputs["neighbor"].astype(np.int64), inputs["pair"]
    nodes = len(start) - 1
    owner = np.repeat(np.arange(nodes), np.diff(start))
    keys = owner * nodes + neighbor
    a, b = pair[:, 0].astype(np.int64), pair[:, 1].astype(np.int64)
    count = np.diff(start)[a]
    which = np.repeat(np.arange(len(a)), count)
    inside = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    w = neighbor[start[a][which] + inside]
    wanted = b[which] * nodes + w
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    hit = keys[at] == wanted
    common = np.bincount(which[hit], minlength=len(a))
    first = np.full(len(a), nodes)
    np.minimum.at(first, which[hit], w[hit])
    first[common == 0] = -1
    return {"common": common.astype(np.int32), "first": first.astype(np.int32)}
