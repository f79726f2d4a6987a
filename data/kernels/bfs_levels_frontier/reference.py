import numpy as np


TOLERANCE = {"level": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="scattered"):
    # One vertex in seven has no edges out and one in five no edges in, so that some stay out of reach.
    tails = rng.choice(np.flatnonzero(np.arange(vertices) % 7 != 6), edges)
    heads = rng.choice(np.flatnonzero(np.arange(vertices) % 5 != 4), edges)
    tails[: edges // 20] = vertices // 2
    source = int(tails[0])
    if pattern == "path":  # as many levels as vertices, in a scattered order
        order = rng.permutation(vertices)
        tails, heads = order[:-1], order[1:]
        source = int(order[0])
    by_tail = np.argsort(tails, kind="stable")
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=vertices))]).astype(np.int32),
        "neighbors": heads[by_tail].astype(np.int32),
        "source": np.array([source], dtype=np.int32),
    }


def reference(inputs):
    row_ptr, heads = inputs["row_ptr"], inputs["neighbors"]
    tails = np.repeat(np.arange(row_ptr.size - 1), np.diff(row_ptr))
    level = np.full(row_ptr.size - 1, -1, dtype=np.int32)
    level[inputs["source"]] = 0
    depth = 0
    while True:
        reached = heads[level[tails] == depth]
        reached = reached[level[reached] == -1]
        if reached.size == 0:
            return {"level": level}
        depth += 1
        level[reached] = depth
