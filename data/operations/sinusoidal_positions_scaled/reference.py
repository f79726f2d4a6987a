import numpy as np


# Angles reach 1000 rad, so a frequency rounded in float32 moves a sine by about 1e-4.
TOLERANCE = {"hidden": (1e-4, 1e-3)}


def make_inputs(rng, vocab, width, batch, steps):
    return {
        "table": (rng.normal(0.0, 1.0, (vocab, width)) / np.sqrt(width)).astype(np.float32),
        "tokens": rng.integers(0, vocab, (batch, steps)).astype(np.int32),
    }


def reference(inputs):
    e, t = inputs["table"], inputs["tokens"]
    width = e.shape[1]
    a = np.arange(t.shape[1])[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    p = np.stack([np.sin(a), np.cos(a)], 2).reshape(t.shape[1], width)
    return {"hidden": (np.sqrt(width) * e.astype(np.float64)[t] + p).astype(np.float32)}
