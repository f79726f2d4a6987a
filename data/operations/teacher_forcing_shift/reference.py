import numpy as np


# Integers: exact.
TOLERANCE = {"decoder_input": (0, 0), "label": (0, 0), "label_count": (0, 0)}


def make_inputs(rng, batch, length):
    tokens = rng.integers(4, 32000, (batch, length))
    tokens[rng.random((batch, length)) < 0.05] = 3
    lengths = rng.integers(length // 3, length + 1, batch)
    lengths[0], lengths[1] = 0, length
    return {"tokens": tokens.astype(np.int32), "lengths": lengths.astype(np.int32)}


def reference(inputs):
    x, n = inputs["tokens"], inputs["lengths"][:, None]
    _batch, length = x.shape
    t = np.arange(length + 1)
    wide = np.pad(x, ((0, 0), (1, 1)))
    source = np.where(t == 0, 1, np.where(t <= n, wide[:, :-1], 0))
    known = np.where(wide[:, 1:] == 3, -100, wide[:, 1:])
    label = np.where(t < n, known, np.where(t == n, 2, -100))
    return {
        "decoder_input": source.astype(np.int32),
        "label": label.astype(np.int32),
        "label_count": np.array([(label != -100).sum()], np.int32),
    }
