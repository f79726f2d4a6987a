import numpy as np


# All scores are multiples of 1/64 below 1024, so sums are exact and ties are real: exact.
TOLERANCE = {"best_scores": (0, 0), "best_beam": (0, 0), "best_token": (0, 0)}


def make_inputs(rng, batch, vocab):
    t = -np.abs(rng.normal(0.0, 3.0, (batch, 4, vocab))) - 1.0
    return {
        "beam_scores": (np.round(rng.uniform(-9.0, -7.5, (batch, 4)) * 64) / 64).astype(np.float32),
        "token_scores": (np.round(t * 64) / 64).astype(np.float32),
    }


def reference(inputs):
    s = (inputs["beam_scores"][:, :, None] + inputs["token_scores"]).reshape(len(inputs["beam_scores"]), -1)
    order = np.argsort(-s, axis=1, kind="stable")[:, :4]
    v = s.shape[1] // 4
    return {
        "best_scores": np.take_along_axis(s, order, 1),
        "best_beam": (order // v).astype(np.int32),
        "best_token": (order % v).astype(np.int32),
    }
