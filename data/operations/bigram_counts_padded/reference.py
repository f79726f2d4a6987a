import numpy as np


# Integer counts: exact.
TOLERANCE = {"counts": (0, 0), "totals": (0, 0)}


def make_inputs(rng, batch, length, vocab):
    t = (rng.random((batch, length)) ** 1.5 * vocab).astype(np.int32)
    t[rng.random((batch, length)) < 0.03] = -1
    t[np.arange(length)[None, :] >= rng.integers(length // 3, length + 1, batch)[:, None]] = -1
    t[0, :2] = vocab - 1
    return {"tokens": t}


def reference(inputs):
    t = inputs["tokens"].astype(np.int64)
    ok = (t[:, :-1] >= 0) & (t[:, 1:] >= 0)
    v = int(t.max()) + 1
    c = np.bincount((t[:, :-1] * v + t[:, 1:])[ok], minlength=v * v).reshape(v, v)
    return {"counts": c.astype(np.int32), "totals": ok.sum(1).astype(np.int32)}
