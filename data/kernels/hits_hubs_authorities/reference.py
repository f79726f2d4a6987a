import numpy as np


TOLERANCE = {"hub": (1e-4, 1e-7), "authority": (1e-4, 1e-7)}


def make_inputs(rng, vertices, edges, rounds, pattern="skewed"):
    tails = (vertices * rng.random(edges) ** 1.5).astype(np.int64)
    heads = (vertices * rng.random(edges) ** 2.5).astype(np.int64)
    if pattern == "star":  # one page links to all others, and all link to another one
        tails[: vertices - 1], heads[: vertices - 1] = 0, np.arange(1, vertices)
        tails[vertices - 1 : 2 * vertices - 2], heads[vertices - 1 : 2 * vertices - 2] = np.arange(1, vertices), 1
    order = rng.permutation(vertices)
    return {
        "sizes": np.array([vertices, edges, rounds], dtype=np.int32),
        "edges": rng.permutation(order[np.stack([tails, heads], axis=1)]).astype(np.int32),
    }


def reference(inputs):
    vertices, _, rounds = inputs["sizes"].tolist()
    tails, heads = inputs["edges"].T
    hub = np.ones(vertices)
    for _ in range(rounds):
        authority = np.bincount(heads, weights=hub[tails], minlength=vertices)
        authority /= np.linalg.norm(authority)
        hub = np.bincount(tails, weights=authority[heads], minlength=vertices)
        hub /= np.linalg.norm(hub)
    return {"hub": hub.astype(np.float32), "authority": authority.astype(np.float32)}
