import numpy as np


# Three float32 terms of size 1 with an exactly periodic code; s may wrap at 1, but the code is continuous there.
TOLERANCE = {"embedding": (1e-5, 3e-6)}


def make_inputs(rng, batch, length, width):
    ids = (3000 * rng.random((batch, length)) ** 2).astype(np.int32)
    ids[:, -length // 5 :] = 0
    segment = np.arange(length) > rng.integers(1, length, (batch, 1))
    return {
        "ids": ids,
        "segment": segment.astype(np.int32),
        "token_table": rng.normal(0, 0.5, (3000, width)).astype(np.float32),
        "segment_table": rng.normal(0, 0.5, (2, width)).astype(np.float32),
    }


def reference(inputs):
    ids = inputs["ids"]
    width = inputs["token_table"].shape[1]
    s = ((np.arange(ids.shape[1]) % 64 / 64)[:, None] + np.arange(width) / width) % 1.0
    e = inputs["token_table"].astype(np.float64)[ids] + inputs["segment_table"].astype(np.float64)[inputs["segment"]]
    e += np.abs(2 * s - 1) - 0.5
    return {"embedding": np.where(ids[..., None] == 0, 0.0, e).astype(np.float32)}
