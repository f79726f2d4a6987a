import numpy as np


# Vectors are copied: exact.
TOLERANCE = {"updated": (0, 0)}


def make_inputs(rng, batch, heads, slots, dim, tokens):
    slot = np.argsort(rng.random((batch, slots)), axis=1)[:, :tokens]
    slot[rng.random(slot.shape) < 0.2] = -1
    return {
        "cache": rng.normal(0, 1, (batch, heads, slots, dim)).astype(np.float32),
        "fresh": rng.normal(3, 1, (batch, tokens, heads, dim)).astype(np.float32),
        "slot": slot.astype(np.int32),
    }


def reference(inputs):
    updated = inputs["cache"].copy()
    b, t = np.nonzero(inputs["slot"] >= 0)
    updated[b, :, inputs["slot"][b, t]] = inputs["fresh"][b, t]
    return {"updated": updated}
