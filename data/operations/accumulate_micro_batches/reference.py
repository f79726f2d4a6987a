import numpy as np


# At most 16 float32 additions per element, with some cancellation, and one division.
TOLERANCE = {"mean_grad": (1e-5, 1e-6), "used": (0, 0)}


def make_inputs(rng, micro, n):
    scale = 2.0 ** rng.integers(8, 12)
    g = rng.standard_normal((micro, n)) * scale
    g = np.clip(g, -60000.0, 60000.0)
    bad = rng.permutation(micro)[: max(1, micro // 3)]
    for j in bad:
        g[j, rng.integers(0, n, 2)] = rng.choice([-1.0, 1.0]) * 70000.0
    good = np.setdiff1d(np.arange(micro), bad)[0]
    g[good, n - 1] = 65504.0
    return {"grads": g.astype(np.float32), "loss_scale": np.array([scale], dtype=np.float32)}


def reference(inputs):
    g = inputs["grads"].astype(np.float64)
    used = np.all(np.abs(g) <= 65504.0, axis=1)
    count = used.sum()
    mean = g[used].sum(axis=0) / (inputs["loss_scale"][0] * max(count, 1))
    return {"mean_grad": mean.astype(np.float32), "used": used.astype(np.int32)}
