import numpy as np


TOLERANCE = {"triangles": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="clustered"):
    # Pairs of low numbers are more frequent, so that there are triangles and lists of very different lengths.
    codes = np.empty(0, dtype=np.int64)
    if pattern == "hub":  # vertex 7 is joined to all others
        ends = np.delete(np.arange(vertices), 7)
        codes = np.minimum(ends, 7) * vertices + np.maximum(ends, 7)
    while codes.size < edges:
        a, b = (vertices * rng.random((2, 2 * edges)) ** 1.5).astype(np.int64)
        fresh = (np.minimum(a, b) * vertices + np.maximum(a, b))[a != b]
        fresh = np.setdiff1d(fresh, codes)
        codes = np.concatenate([codes, rng.permutation(fresh)[: edges - codes.size]])
    a, b = codes // vertices, codes % vertices
    both = np.sort(np.concatenate([a * vertices + b, b * vertices + a]))
    counts = np.bincount(both // vertices, minlength=vertices)
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "neighbors": (both % vertices).astype(np.int32),
    }


def reference(inputs):
    row_ptr, neighbors = inputs["row_ptr"].astype(np.int64), inputs["neighbors"].astype(np.int64)
    vertices = row_ptr.size - 1
    degree = np.diff(row_ptr)
    owner = np.repeat(np.arange(vertices), degree)
    # Direct every edge from the lower degree to the higher one, so that lists stay short.
    rank = np.empty(vertices, dtype=np.int64)
    rank[np.lexsort((np.arange(vertices), degree))] = np.arange(vertices)
    up = rank[owner] < rank[neighbors]
    tails, heads = owner[up], neighbors[up]
    known = np.sort(tails * vertices + heads)
    starts = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=vertices))])
    count = np.zeros(vertices, dtype=np.int64)
    for begin in range(0, tails.size, 100000):
        a, b = tails[begin : begin + 100000], heads[begin : begin + 100000]
        lengths = starts[b + 1] - starts[b]
        edge = np.repeat(np.arange(a.size), lengths)
        c = heads[np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + starts[b][edge]]
        code = a[edge] * vertices + c
        hit = known[np.minimum(np.searchsorted(known, code), known.size - 1)] == code
        for corner in (a[edge][hit], b[edge][hit], c[hit]):
            count += np.bincount(corner, minlength=vertices)
    return {"triangles": count.astype(np.int32)}
