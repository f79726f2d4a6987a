import numpy as np


TOLERANCE = {"loss": (1e-3, 1e-4)}


def make_inputs(rng, queries, bank, width, pattern="noisy"):
    query, negatives = rng.normal(0.0, 1.0, (queries, width)), rng.normal(0.0, 1.0, (bank, width))
    query /= np.linalg.norm(query, axis=1, keepdims=True)
    negatives /= np.linalg.norm(negatives, axis=1, keepdims=True)
    positive = query + rng.normal(0.0, 1.0 / np.sqrt(width), (queries, width))
    if pattern == "aligned":  # similarities of several hundred
        query, negatives, positive = 6.0 * query, 6.0 * negatives, 6.0 * positive
        negatives[7] = query[3]
    return {
        "sizes": np.array([queries, bank, width], dtype=np.int32),
        "query": query.astype(np.float32),
        "positive": positive.astype(np.float32),
        "negatives": negatives.astype(np.float32),
    }


def reference(inputs):
    query = inputs["query"].astype(np.float64)
    own = (query * inputs["positive"]).sum(axis=1, keepdims=True) / 0.125
    scores = np.concatenate([own, query @ inputs["negatives"].astype(np.float64).T / 0.125], axis=1)
    top = scores.max(axis=1)
    loss = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + (top - own[:, 0])
    return {"loss": loss.astype(np.float32)}
