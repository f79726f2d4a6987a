import numpy as np


# Counts are exact; the coefficient is one division.
TOLERANCE = {"links": (0, 0), "coefficient": (1e-6, 1e-7)}


def make_inputs(rng, vertices):
    near = np.abs(np.subtract.outer(np.arange(vertices), np.arange(vertices)))
    chance = 0.5 * np.exp(-near / (vertices / 12)) + 0.02
    upper = np.triu(rng.random((vertices, vertices)) < chance, 1)
    quiet = rng.permutation(vertices)[: vertices // 20]
    upper[quiet] = False
    upper[:, quiet] = False
    upper[quiet[1], (quiet[1] + 1) % vertices if quiet[1] + 1 < vertices else 0] = quiet[1] + 1 < vertices
    full = np.zeros((vertices, (vertices + 31) // 32 * 32), dtype=np.uint8)
    full[:, :vertices] = upper | upper.T
    return {"bits": np.packbits(full, axis=1, bitorder="little").view("<u4").astype(np.uint32)}


def reference(inputs):
    n = len(inputs["bits"])
    a = np.unpackbits(inputs["bits"].view(np.uint8), axis=1, bitorder="little")[:, :n].astype(np.float32)
    links = np.rint(((a @ a) * a).sum(axis=1, dtype=np.float64) / 2)
    d = a.sum(axis=1, dtype=np.float64)
    coefficient = np.where(d < 2, 0.0, 2 * links / np.maximum(d * (d - 1), 1))
    return {"links": links.astype(np.int32), "coefficient": coefficient.astype(np.float32)}
