import numpy as np


# Comparisons of input values and bit counts: exact.
TOLERANCE = {"signature": (0, 0), "cost": (0, 0)}


def make_inputs(rng, height, width):
    a = rng.integers(0, 60, (height, width))
    b = a + rng.integers(-9, 10, (height, width))
    return {"left": (a * 0.25).astype(np.float32), "right": (b * 0.25).astype(np.float32)}


def census(a):
    h, w = a.shape
    p = np.pad(a, 2, mode="edge")
    s = np.zeros((h, w), np.uint32)
    for dy in range(5):
        for dx in range(5):
            if dy != 2 or dx != 2:
                s = (s << np.uint32(1)) | (p[dy : dy + h, dx : dx + w] < a).astype(np.uint32)
    return s


def reference(inputs):
    s, t = census(inputs["left"]), census(inputs["right"])
    d = s ^ t
    n = sum(((d >> np.uint32(k)) & np.uint32(1)).astype(np.int32) for k in range(24))
    return {"signature": s, "cost": n.astype(np.int32)}
