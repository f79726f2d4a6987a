import numpy as np


# A mean of 25 float32 values up to 255 is good to about 3e-5; the shrunken detail is continuous.
TOLERANCE = {"sharp": (1e-5, 5e-4)}


def make_inputs(rng, height, width):
    y, x = np.indices((height, width))
    v = 128.0 + 70.0 * np.sign(np.sin(0.15 * x) * np.cos(0.2 * y)) + rng.normal(0.0, 12.0, (height, width))
    return {"photo": np.clip(v, 0, 255).astype(np.float32)}


def reference(inputs):
    a = inputs["photo"].astype(np.float64)
    h, w = a.shape
    p = np.pad(a, 2, mode="symmetric")
    r = sum(p[:, k : k + w] for k in range(5))
    d = a - sum(r[k : k + h] for k in range(5)) / 25.0
    e = np.sign(d) * np.maximum(np.abs(d) - 4.0, 0.0)
    return {"sharp": np.clip(a + 1.5 * e, 0.0, 255.0).astype(np.float32)}
