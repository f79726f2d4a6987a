import numpy as np


TOLERANCE = {"positions": (0, 0), "count": (0, 0)}


def make_inputs(rng, n, reach, values="noise"):
    x = np.rint(10000.0 * np.sin(np.arange(n) / 40.0) + rng.normal(0.0, 3000.0, n))
    floor = 2000
    if values == "plateaus":  # equal values within reach, and values at the floor
        x = np.repeat(rng.integers(0, 4, n // 30 + 1), 30)[:n] * 2000
        x[rng.integers(0, n, 9)] = 2**31 - 1
    sizes = np.array([n, reach], dtype=np.int32)
    return {"sizes": sizes, "x": x.astype(np.int32), "floor": np.array([floor], dtype=np.int32)}


def reference(inputs):
    n, reach = map(int, inputs["sizes"])
    x = inputs["x"].astype(np.int64)
    padded = np.pad(x, reach, constant_values=-(2**40))
    before = np.lib.stride_tricks.sliding_window_view(padded[: n + reach - 1], reach).max(axis=1)
    after = np.lib.stride_tricks.sliding_window_view(padded[reach + 1 :], reach).max(axis=1)
    found = np.flatnonzero((x > int(inputs["floor"][0])) & (x > before) & (x >= after))
    positions = np.full(n, -1, dtype=np.int32)
    positions[: len(found)] = found
    return {"positions": positions, "count": np.array([len(found)], dtype=np.int32)}
