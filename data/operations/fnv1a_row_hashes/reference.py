import numpy as np


# Integer arithmetic: exact.
TOLERANCE = {"hashes": (0, 0), "slots": (0, 0)}


def make_inputs(rng, rows, width):
    lengths = rng.integers(0, width + 1, rows)
    lengths[:2] = [0, width]
    return {"text": rng.integers(0, 256, (rows, width)).astype(np.uint8), "lengths": lengths.astype(np.int32)}


def reference(inputs):
    text, lengths = inputs["text"], inputs["lengths"]
    h = np.full(len(text), 2166136261, dtype=np.uint32)
    for i in range(text.shape[1]):
        h = np.where(i < lengths, (h ^ text[:, i]) * np.uint32(16777619), h)
    return {"hashes": h, "slots": (h % np.uint32(10007)).astype(np.int32)}
