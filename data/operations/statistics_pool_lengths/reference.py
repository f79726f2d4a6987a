import numpy as np


# Two-pass float32 moments over up to 800 frames.
TOLERANCE = {"stats": (5e-5, 5e-6)}


def make_inputs(rng, batch, time, dim):
    x = rng.normal(0.0, 1.0, (batch, time, dim)) * rng.uniform(0.2, 2.0, (batch, 1, dim)) + rng.normal(
        0.0, 0.7, (batch, 1, dim)
    )
    n = rng.integers(1, time + 1, batch)
    n[0], n[1] = 1, time
    return {"frames": x.astype(np.float32), "lengths": n.astype(np.int32)}


def reference(inputs):
    x, n = inputs["frames"].astype(np.float64), inputs["lengths"]
    out = [
        np.concatenate([x[b, :k].mean(0), np.sqrt(np.maximum(x[b, :k].var(0), 1e-6))])
        for b, k in enumerate(n.tolist())
    ]
    return {"stats": np.stack(out).astype(np.float32)}
