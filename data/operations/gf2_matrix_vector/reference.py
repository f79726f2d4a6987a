import numpy as np


# Bits: exact.
TOLERANCE = {"y": (0, 0)}


def make_inputs(rng, batch, row_words, col_words):
    return {
        "matrix": rng.integers(0, 2**32, (32 * row_words, col_words), dtype=np.uint32),
        "x": rng.integers(0, 2**32, (batch, col_words), dtype=np.uint32),
    }


def reference(inputs):
    def bits(a):
        return ((a[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1).reshape(len(a), -1).astype(np.float32)

    # Counts stay below 2^24, so float32 products are exact.
    parity = (bits(inputs["x"]) @ bits(inputs["matrix"]).T).astype(np.int64) & 1
    words = parity.reshape(len(parity), -1, 32) << np.arange(32)
    return {"y": words.sum(axis=2).astype(np.uint32)}
