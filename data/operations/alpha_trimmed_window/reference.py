import numpy as np


# A mean of at most seven float32 values near 1, impulses up to 10 included where they survive.
TOLERANCE = {"cleaned": (1e-5, 5e-6)}


def make_inputs(rng, height, width, trim):
    make_inputs.trim = trim
    y, x = np.indices((height, width))
    v = np.sin(0.1 * x) + np.cos(0.08 * y) + rng.normal(0.0, 0.2, (height, width))
    hit = rng.random((height, width)) < 0.15
    v[hit] = rng.choice([-10.0, 10.0], hit.sum())
    return {"noisy": v.astype(np.float32)}


def reference(inputs):
    a = inputs["noisy"]
    h, w = a.shape
    p = np.pad(a, 1, mode="edge")
    s = np.sort(np.stack([p[k // 3 : k // 3 + h, k % 3 : k % 3 + w] for k in range(9)]), axis=0)
    t = make_inputs.trim
    return {"cleaned": s[t : 9 - t].astype(np.float64).mean(0).astype(np.float32)}
