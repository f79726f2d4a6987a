import numpy as np


TOLERANCE = {"rank": (1e-4, 1e-9)}


def make_inputs(rng, vertices, edges, iterations, pattern="scattered"):
    # A quarter of the vertices has no edge out, and low numbers receive more edges.
    tails = rng.choice(np.flatnonzero(np.arange(vertices) % 4 != 1), edges)
    heads = (vertices * rng.random(edges) ** 2).astype(np.int64)
    if pattern == "sink":  # all edges lead to one vertex that has none out
        tails = rng.choice(np.delete(np.arange(vertices), 9), edges)
        heads[:] = 9
    by_head = np.argsort(heads, kind="stable")
    return {
        "sizes": np.array([vertices, edges, iterations], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=vertices))]).astype(np.int32),
        "sources": tails[by_head].astype(np.int32),
    }


def reference(inputs):
    vertices, _, iterations = inputs["sizes"].tolist()
    tails = inputs["sources"]
    heads = np.repeat(np.arange(vertices), np.diff(inputs["row_ptr"]))
    outgoing = np.bincount(tails, minlength=vertices)
    rank = np.full(vertices, 1.0 / vertices)
    for _ in range(iterations):
        share = rank / np.maximum(outgoing, 1)
        received = np.bincount(heads, weights=share[tails], minlength=vertices)
        rank = 0.15 / vertices + 0.85 * (received + rank[outgoing == 0].sum() / vertices)
    return {"rank": rank.astype(np.float32)}
