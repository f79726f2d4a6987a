import numpy as np


# Values are moved: exact.
TOLERANCE = {"packed": (0, 0), "starts": (0, 0)}


def make_inputs(rng, batch, steps, dim):
    n = rng.integers(steps // 4, steps + 1, batch)
    n[batch // 2] = 0
    n[1] = steps
    return {"padded": rng.normal(0.0, 1.0, (batch, steps, dim)).astype(np.float32), "lengths": n.astype(np.int32)}


def reference(inputs):
    x, n = inputs["padded"], inputs["lengths"]
    b, t, d = x.shape
    valid = np.arange(t)[None, :] < n[:, None]
    out = np.zeros((b * t, d), np.float32)
    out[: valid.sum()] = x[valid]
    return {"packed": out, "starts": np.concatenate([[0], np.cumsum(n)]).astype(np.int32)}
