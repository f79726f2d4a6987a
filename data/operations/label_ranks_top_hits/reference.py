import numpy as np


# Integer ranks and counts from comparisons: exact.
TOLERANCE = {"rank": (0, 0), "hits": (0, 0)}


def make_inputs(rng, rows, classes, topk):
    scores = rng.integers(-40, 41, (rows, classes)).astype(np.float32) * np.float32(0.125)
    labels = rng.integers(0, classes, rows)
    scores[np.arange(rows), labels] += rng.choice([0.0, 2.0, 5.0], rows).astype(np.float32)
    return {
        "scores": scores,
        "labels": labels.astype(np.int32),
        "cutoffs": rng.permutation(np.arange(1, topk + 1) ** 2 if topk < 8 else np.arange(1, 2 * topk, 2)).astype(
            np.int32
        ),
    }


def reference(inputs):
    s, y = inputs["scores"], inputs["labels"]
    own = s[np.arange(len(s)), y][:, None]
    before = np.arange(s.shape[1])[None, :] < y[:, None]
    rank = np.sum((s > own) | ((s == own) & before), axis=1)
    return {
        "rank": rank.astype(np.int32),
        "hits": np.array([np.sum(rank < k) for k in inputs["cutoffs"]], dtype=np.int32),
    }
