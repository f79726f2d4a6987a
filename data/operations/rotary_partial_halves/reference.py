import numpy as np


# The angle reaches 1000 rad; a frequency rounded in float32 (powf, exp2f) shifts it by some 1e-4.
TOLERANCE = {"rotated": (1e-3, 2e-3)}


def make_inputs(rng, tokens, heads):
    return {
        "q": rng.normal(0.0, 1.0, (tokens, heads, 48)).astype(np.float32),
        "position": rng.integers(0, 1001, tokens).astype(np.int32),
    }


def reference(inputs):
    q = inputs["q"].astype(np.float64)
    a = inputs["position"][:, None] * 10000.0 ** (-np.arange(16) / 16.0)
    c, s = np.cos(a)[:, None], np.sin(a)[:, None]
    lo, hi = q[..., :16], q[..., 16:32]
    return {"rotated": np.concatenate([lo * c - hi * s, hi * c + lo * s, q[..., 32:]], 2).astype(np.float32)}
