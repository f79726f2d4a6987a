import numpy as np


TOLERANCE = {"mate": (0, 0), "total": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="random"):
    u = rng.integers(0, vertices, edges)
    v = (u + rng.integers(1, vertices, edges)) % vertices
    weights = rng.integers(0, 2**31, edges)
    if pattern == "random":  # every second edge has one of few weights, so that ties are common
        weights[::2] = rng.integers(0, 50, len(weights[::2])) * 40000000
    else:  # a long chain of rising weights; parallel edges; a star; weights of 0
        chain = 600
        u[:chain] = np.arange(chain)
        v[:chain] = np.arange(1, chain + 1)
        weights[:chain] = np.arange(chain)
        rest = edges - chain
        u[chain:] = rng.integers(chain + 1, vertices, rest)
        v[chain:] = np.where(u[chain:] == vertices - 1, vertices - 2, vertices - 1)
        u[-1000:] = rng.integers(1000, 1400, 1000)
        v[-1000:] = u[-1000:] + rng.integers(1, 4, 1000)
        weights[-1000:] = rng.integers(0, 3, 1000)
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "ends": np.stack([u, v], axis=1).astype(np.int32),
        "weights": weights.astype(np.int32),
    }


def reference(inputs):
    ends, weights = inputs["ends"].tolist(), inputs["weights"]
    mate = [-1] * int(inputs["sizes"][0])
    total = 0
    for edge in np.argsort(-weights.astype(np.int64), kind="stable").tolist():
        u, v = ends[edge]
        if mate[u] < 0 and mate[v] < 0:
            mate[u], mate[v] = v, u
            total += int(weights[edge])
    return {"mate": np.array(mate, dtype=np.int32), "total": np.array([total], dtype=np.int64)}
