import numpy as np


# Two sums of up to 1000 exponentials and a logarithm: absolute error of a few 1e-6 times the score range.
TOLERANCE = {"loss": (5e-5, 2e-5)}


def make_inputs(rng, lists, longest):
    rel = rng.integers(0, 5, (lists, longest)).astype(np.float32)
    scores = (rng.normal(0.0, 2.0, rel.shape) + 0.8 * rel + rng.uniform(-30.0, 30.0, (lists, 1))).astype(np.float32)
    length = rng.integers(1, longest + 1, lists)
    length[:2] = [1, longest]
    pad = np.arange(longest)[None, :] >= length[:, None]
    scores[pad] = 500.0
    rel[pad] = 77.0
    return {"scores": scores, "relevance": rel, "length": length.astype(np.int32)}


def reference(inputs):
    valid = np.arange(inputs["scores"].shape[1])[None, :] < inputs["length"][:, None]
    s = np.where(valid, inputs["scores"].astype(np.float64), -np.inf)
    r = np.where(valid, inputs["relevance"].astype(np.float64), -np.inf)
    t = np.exp(r - r.max(axis=1, keepdims=True))
    t /= t.sum(axis=1, keepdims=True)
    top = s.max(axis=1, keepdims=True)
    logsum = top + np.log(np.exp(s - top).sum(axis=1, keepdims=True))
    return {"loss": np.where(valid, t * (logsum - np.where(valid, s, 0.0)), 0.0).sum(axis=1).astype(np.float32)}
