import numpy as np


# A mean of at most four float32 values between 0 and 4.
TOLERANCE = {"rgb": (1e-5, 1e-6)}


def make_inputs(rng, height, width):
    y, x = np.indices((height, width))
    base = np.where((y % 2 == 0) & (x % 2 == 0), 0.5, np.where((y % 2 == 1) & (x % 2 == 1), 3.0, 1.5))
    return {"raw": (base + rng.uniform(-0.5, 1.0, (height, width))).astype(np.float32)}


def reference(inputs):
    a = inputs["raw"].astype(np.float64)
    h, w = a.shape
    y, x = np.indices((h, w))
    color = (y % 2) + (x % 2)
    out = np.zeros((3, h, w))
    for c in range(3):
        m = (color == c).astype(np.float64)
        pv, pm = np.pad(a * m, 1), np.pad(m, 1)

        def box(p):
            return sum(p[dy : dy + h, dx : dx + w] for dy in range(3) for dx in range(3))

        out[c] = np.where(color == c, a, box(pv) / box(pm))
    return {"rgb": out.astype(np.float32)}
