import numpy as np


TOLERANCE = {"level": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="random"):
    # Edges lead from earlier to later places of a random order; a third of the places has no edges.
    places = np.flatnonzero(rng.random(vertices) < 0.67) if vertices > 10 else np.arange(vertices)
    low = rng.integers(0, places.size - 1, edges)
    high = np.minimum(low + 1 + rng.integers(0, max(places.size // 8, 1), edges), places.size - 1)
    if pattern == "deep":  # consecutive places are joined: as deep as it gets
        low[: places.size - 1] = np.arange(places.size - 1)
        high[: places.size - 1] = np.arange(1, places.size)
    order = rng.permutation(vertices)
    tails, heads = order[places[low]], order[places[high]]
    by_tail = np.argsort(tails, kind="stable")
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=vertices))]).astype(np.int32),
        "heads": heads[by_tail].astype(np.int32),
    }


def reference(inputs):
    row_ptr, heads = inputs["row_ptr"].astype(np.int64), inputs["heads"]
    waiting = np.bincount(heads, minlength=row_ptr.size - 1)
    level = np.zeros(row_ptr.size - 1, dtype=np.int32)
    frontier, depth = np.flatnonzero(waiting == 0), 0
    while frontier.size:
        depth += 1
        lengths = row_ptr[frontier + 1] - row_ptr[frontier]
        shift = np.repeat(row_ptr[frontier] - np.cumsum(lengths) + lengths, lengths)
        reached = heads[np.arange(lengths.sum()) + shift]
        np.subtract.at(waiting, reached, 1)
        frontier = np.unique(reached[waiting[reached] == 0])
        level[frontier] = depth
    return {"level": level}
