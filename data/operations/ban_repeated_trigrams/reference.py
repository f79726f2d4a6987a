import numpy as np


# Copies, one constant and counts: exact.
TOLERANCE = {"filtered": (0, 0), "banned": (0, 0)}


def make_inputs(rng, batch, vocab, length):
    g = rng.integers(0, vocab, (batch, length))
    few = rng.integers(0, 5, (batch, length))
    g = np.where(np.arange(batch)[:, None] % 5 == 4, g, few + 7 * (np.arange(batch)[:, None] % 11))
    return {"logits": rng.normal(0.0, 3.0, (batch, vocab)).astype(np.float32), "generated": g.astype(np.int32)}


def reference(inputs):
    out, g = inputs["logits"].copy(), inputs["generated"]
    hit = (g[:, :-2] == g[:, -2:-1]) & (g[:, 1:-1] == g[:, -1:])
    b = np.broadcast_to(np.arange(len(g))[:, None], hit.shape)
    out[b[hit], g[:, 2:][hit]] = -1e9
    return {"filtered": out, "banned": (out == np.float32(-1e9)).sum(1).astype(np.int32)}
