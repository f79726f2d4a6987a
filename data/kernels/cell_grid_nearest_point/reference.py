import numpy as np


TOLERANCE = {"index": (0, 0), "square": (0, 0)}


def cell_of(points, side, edge):
    x, y, z = (points // edge).T
    return (z * side + y) * side + x


def make_inputs(rng, n, queries, side, edge, values="blobs"):
    reach = side * edge
    centers = rng.integers(0, reach, (max(n // 300, 1), 3))
    points = centers[rng.integers(0, len(centers), n)] + np.rint(rng.normal(0.0, 0.7 * edge, (n, 3))).astype(np.int64)
    query = points[rng.integers(0, n, queries)] + rng.integers(-edge, edge + 1, (queries, 3))
    if values == "ties":  # a coarse lattice: several points at the same distance, and queries on points
        points = rng.integers(0, side, (n, 3)) * edge
        query = rng.integers(0, 2 * side, (queries, 3)) * edge // 2
    points, query = np.clip(points, 0, reach - 1), np.clip(query, 0, reach - 1)
    order = np.argsort(cell_of(points, side, edge), kind="stable")
    points = points[order]
    counts = np.bincount(cell_of(points, side, edge), minlength=side**3)
    return {
        "sizes": np.array([n, queries, side, edge], dtype=np.int32),
        "points": points.astype(np.int16),
        "starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "query": query.astype(np.int16),
    }


def reference(inputs):
    _, queries, side, edge = map(int, inputs["sizes"])
    points, query, starts = (inputs[key].astype(np.int64) for key in ("points", "query", "starts"))
    best = np.full(queries, 2**62, dtype=np.int64)
    cell = query // edge
    for dz in (-1, 0, 1):
        for dy in (-1, 0, 1):
            y, z = cell[:, 1] + dy, cell[:, 2] + dz
            valid = (y >= 0) & (y < side) & (z >= 0) & (z < side)
            row = (np.clip(z, 0, side - 1) * side + np.clip(y, 0, side - 1)) * side
            begin = starts[row + np.maximum(cell[:, 0] - 1, 0)]
            length = np.where(valid, starts[row + np.minimum(cell[:, 0] + 1, side - 1) + 1] - begin, 0)
            owner = np.repeat(np.arange(queries), length)
            member = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length) + np.repeat(begin, length)
            square = ((points[member] - query[owner]) ** 2).sum(axis=1)
            np.minimum.at(best, owner, (square << 32) | member)
    found = best < 2**62
    return {
        "index": np.where(found, best & 0xFFFFFFFF, -1).astype(np.int32),
        "square": np.where(found, best >> 32, -1).astype(np.int32),
    }
