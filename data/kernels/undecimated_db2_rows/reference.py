import numpy as np


TOLERANCE = {"details": (1e-4, 1e-4), "rest": (1e-4, 1e-4)}


def make_inputs(rng, rows, n, levels, values="signal"):
    x = np.sin(np.arange(n) / 50.0) + rng.normal(0.0, 0.5, (rows, n))
    if values == "short":  # the taps go around the row several times
        x = rng.normal(0.0, 10.0, (rows, n))
    return {"sizes": np.array([rows, n, levels], dtype=np.int32), "x": x.astype(np.float32)}


def reference(inputs):
    root = np.sqrt(3.0)
    low = np.array([1 + root, 3 + root, 3 - root, 1 - root]) / 8.0
    high = np.array([low[3], -low[2], low[1], -low[0]])
    current, details = inputs["x"].astype(np.float64), []
    for level in range(int(inputs["sizes"][2])):
        shifted = [np.roll(current, k << level, axis=1) for k in range(4)]
        details.append(sum(weight * row for weight, row in zip(high, shifted, strict=True)))
        current = sum(weight * row for weight, row in zip(low, shifted, strict=True))
    return {"details": np.stack(details).astype(np.float32), "rest": current.astype(np.float32)}
