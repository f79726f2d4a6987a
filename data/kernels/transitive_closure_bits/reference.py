import numpy as np


TOLERANCE = {"closure": (0, 0), "reachable": (0, 0)}


def make_inputs(rng, vertices, pattern="random"):
    # A little more than one edge per vertex: some reach much, many reach little.
    edges = int(1.15 * vertices) + 1
    tails, heads = rng.integers(0, vertices, (2, edges))
    if pattern == "cycle":  # one long cycle and a tail that leads into it
        order = rng.permutation(vertices)
        tails, heads = order, np.roll(order, -1)
        heads[-1] = order[vertices // 4]
    matrix = np.zeros((vertices, (vertices + 31) // 32 * 32), dtype=np.uint8)
    matrix[tails, heads] = 1
    return {
        "sizes": np.array([vertices], dtype=np.int32),
        "adjacency": np.packbits(matrix, axis=1, bitorder="little").view(np.uint32),
    }


def reference(inputs):
    rows = inputs["adjacency"].copy()
    for k in range(rows.shape[0]):
        reaches = (rows[:, k // 32] >> np.uint32(k % 32) & 1).astype(bool)
        rows[reaches] |= rows[k]
    bits = np.unpackbits(rows.view(np.uint8), axis=1)
    return {"closure": rows, "reachable": bits.sum(axis=1).astype(np.int32)}
