import numpy as np


# Sums of up to 500 float32 terms of both signs, single ones as large as 100: a few 1e-4 absolute at the worst.
TOLERANCE = {"potential": (1e-3, 1e-3), "field": (1e-3, 2e-3)}


def make_inputs(rng, n, m):
    sources = np.concatenate([rng.uniform(-5.0, 5.0, (m, 3)), rng.uniform(-2.0, 2.0, (m, 1))], axis=1)
    targets = rng.uniform(-6.0, 6.0, (n, 3))
    targets[:10] = sources[:10, :3]
    return {"sources": sources.astype(np.float32), "targets": targets.astype(np.float32)}


def reference(inputs):
    s, t = inputs["sources"].astype(np.float64), inputs["targets"].astype(np.float64)
    potential, field = np.zeros(len(t)), np.zeros((len(t), 3))
    for row in s:
        r = t - row[:3]
        inv = 1.0 / np.sqrt((r * r).sum(axis=1) + 0.01)
        potential += row[3] * inv
        field += (row[3] * inv**3)[:, None] * r
    return {"potential": potential.astype(np.float32), "field": field.astype(np.float32)}
