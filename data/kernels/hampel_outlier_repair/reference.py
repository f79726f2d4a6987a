import numpy as np


TOLERANCE = {"y": (0, 0), "replaced": (0, 0)}


def make_inputs(rng, n, radius, factor, values="spikes"):
    x = np.rint(5000.0 * np.sin(np.arange(n) / 60.0) + rng.normal(0.0, 40.0, n))
    hit = rng.random(n) < 0.05
    x[hit] += rng.integers(-20000, 20001, hit.sum())
    if values == "ties":  # windows whose median absolute deviation is 0
        x = rng.choice([-32768, 100, 100, 100, 101, 32767], n)
    return {"sizes": np.array([n, radius, factor], dtype=np.int32), "x": x.astype(np.int16)}


def reference(inputs):
    _, radius, factor = map(int, inputs["sizes"])
    x = inputs["x"].astype(np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, radius, mode="edge"), 2 * radius + 1)
    median = np.partition(windows, radius, axis=1)[:, radius]
    deviation = np.partition(np.abs(windows - median[:, None]), radius, axis=1)[:, radius]
    outlier = 2 * np.abs(x - median) > factor * deviation
    y = np.where(outlier, median, x).astype(np.int16)
    return {"y": y, "replaced": np.array([np.count_nonzero(outlier)], dtype=np.int32)}
