import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-4), "grad": (1e-4, 1e-4)}


def make_inputs(rng, groups, items, pattern="mixed"):
    cuts = np.sort((items * rng.random(groups - 1) ** 1.3).astype(np.int64))
    offsets = np.concatenate([[0], cuts, [items]])
    if groups > 4:
        offsets[4] = offsets[3]  # an empty group
    relevance = rng.integers(-1, 4, items)
    scores = rng.normal(0.0, 2.0, items) + 0.5 * relevance
    if pattern == "equal":  # groups without pairs, and scores far apart
        relevance[: items // 2] = 3
        scores = rng.choice([-100.0, 0.0, 0.0, 100.0], items)
    return {
        "sizes": np.array([groups, items], dtype=np.int32),
        "offsets": offsets.astype(np.int32),
        "scores": scores.astype(np.float32),
        "relevance": relevance.astype(np.int32),
    }


def reference(inputs):
    scores, relevance, offsets = inputs["scores"].astype(np.float64), inputs["relevance"], inputs["offsets"]
    loss, grad = np.zeros(offsets.size - 1), np.zeros(scores.size)
    for k in range(loss.size):
        part = slice(offsets[k], offsets[k + 1])
        order = relevance[part][:, None] > relevance[part][None, :]
        i, j = np.nonzero(order)
        x = scores[part][j] - scores[part][i]
        loss[k] = np.logaddexp(0.0, x).sum()
        w = np.exp(-np.logaddexp(0.0, -x))
        count = offsets[k + 1] - offsets[k]
        grad[part] = np.bincount(j, weights=w, minlength=count) - np.bincount(i, weights=w, minlength=count)
    return {"loss": loss.astype(np.float32), "grad": grad.astype(np.float32)}
