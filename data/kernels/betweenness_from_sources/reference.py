import numpy as np


TOLERANCE = {"centrality": (1e-9, 1e-9)}


def make_inputs(rng, vertices, edges, sources, pattern="random"):
    a = rng.integers(0, vertices, edges)
    b = (a + 1 + (rng.random(edges) ** 2 * (vertices - 1)).astype(np.int64)) % vertices
    if pattern == "ladder":  # a chain of squares: the number of paths doubles with each
        size = 28
        left = np.arange(size) * 3
        squares = np.stack([[left, left + 1], [left, left + 2], [left + 1, left + 3], [left + 2, left + 3]])
        a[: 4 * size], b[: 4 * size] = squares[:, 0].ravel(), squares[:, 1].ravel()
        a[4 * size :] = 100 + a[4 * size :] % 150
        b[4 * size :] = np.where(a[4 * size :] == 100, 101, 100)
    tails, heads = np.concatenate([a, b]), np.concatenate([b, a])
    by_tail = np.argsort(tails, kind="stable")
    counts = np.bincount(tails, minlength=vertices)
    source = rng.permutation(vertices)[:sources]
    source[0] = a[0]
    source[1:][source[1:] == a[0]] = np.setdiff1d(np.arange(vertices), source)[0]
    return {
        "sizes": np.array([vertices, edges, sources], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "neighbors": heads[by_tail].astype(np.int32),
        "source": source.astype(np.int32),
    }


def reference(inputs):
    heads = inputs["neighbors"]
    vertices = inputs["row_ptr"].size - 1
    tails = np.repeat(np.arange(vertices), np.diff(inputs["row_ptr"]))
    centrality = np.zeros(vertices)
    for s in inputs["source"]:
        level = np.full(vertices, -1)
        sigma, delta = np.zeros(vertices), np.zeros(vertices)
        level[s], sigma[s] = 0, 1.0
        layers = []
        while True:
            from_here = level[tails] == len(layers)
            level[heads[from_here & (level[heads] == -1)]] = len(layers) + 1
            layer = np.flatnonzero(from_here & (level[heads] == len(layers) + 1))
            if layer.size == 0:
                break
            sigma += np.bincount(heads[layer], weights=sigma[tails[layer]], minlength=vertices)
            layers.append(layer)
        for layer in reversed(layers):
            v, w = tails[layer], heads[layer]
            delta += np.bincount(v, weights=sigma[v] / sigma[w] * (1.0 + delta[w]), minlength=vertices)
        delta[s] = 0.0
        centrality += delta
    return {"centrality": centrality}
