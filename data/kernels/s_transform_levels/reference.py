import numpy as np


TOLERANCE = {"y": (0, 0)}


def make_inputs(rng, rows, n, levels, values="signal"):
    x = np.rint(8000.0 * np.sin(np.arange(n) / 37.0) + rng.normal(0.0, 500.0, (rows, n)))
    if values == "extremes":
        x = rng.choice([-32768, -2, -1, 0, 1, 32767], (rows, n))
    return {"sizes": np.array([rows, n, levels], dtype=np.int32), "x": x.astype(np.int16)}


def reference(inputs):
    low, bands = inputs["x"].astype(np.int64), []
    for _ in range(int(inputs["sizes"][2])):
        a, b = low[:, 0::2], low[:, 1::2]
        bands.insert(0, a - b)
        low = (a + b) >> 1
    return {"y": np.concatenate([low, *bands], axis=1).astype(np.int32)}
