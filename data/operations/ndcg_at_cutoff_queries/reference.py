import numpy as np


# At most a few hundred positive float32 terms in two sums and their quotient.
TOLERANCE = {"ndcg": (5e-5, 1e-6)}


def make_inputs(rng, queries, docs):
    grades = np.minimum(rng.geometric(0.6, (queries, docs)) - 1, 4)
    grades[rng.random(queries) < 0.05] = 0
    scores = np.round(2.0 * (rng.normal(0.0, 1.5, (queries, docs)) + grades)) / 2.0
    return {
        "scores": scores.astype(np.float32),
        "grades": grades.astype(np.int32),
        "cutoff": rng.integers(1, 2 * docs // 3, queries).astype(np.int32),
    }


def reference(inputs):
    g = inputs["grades"]
    n = g.shape[1]
    order = np.argsort(-inputs["scores"], axis=1, kind="stable")
    weight = (np.arange(n)[None, :] < inputs["cutoff"][:, None]) / np.log2(np.arange(n) + 2.0)[None, :]
    dcg = ((2.0 ** np.take_along_axis(g, order, 1) - 1.0) * weight).sum(axis=1)
    best = ((2.0 ** -np.sort(-g, axis=1) - 1.0) * weight).sum(axis=1)
    return {"ndcg": np.where(best > 0, dcg / np.where(best > 0, best, 1.0), 0.0).astype(np.float32)}
