import numpy as np


TOLERANCE = {"distance": (1e-3, 1e-4), "squared": (1e-3, 1e-4)}


def make_inputs(rng, rows, bins, pattern="smooth"):
    predicted, target = rng.exponential(1.0, (2, rows, bins)) ** 2
    if pattern == "points":  # all mass in one bin; some rows agree
        predicted, target = np.zeros((2, rows, bins))
        predicted[np.arange(rows), rng.integers(0, bins, rows)] = 1.0
        target[np.arange(rows), rng.integers(0, bins, rows)] = 1.0
        target[::5] = predicted[::5]
    predicted, target = (x / x.sum(axis=1, keepdims=True) for x in (predicted, target))
    return {
        "sizes": np.array([rows, bins], dtype=np.int32),
        "predicted": predicted.astype(np.float32),
        "target": target.astype(np.float32),
        "position": np.cumsum(rng.uniform(0.2, 3.0, bins)).astype(np.float32),
    }


def reference(inputs):
    flow = np.cumsum(inputs["predicted"].astype(np.float64) - inputs["target"], axis=1)[:, :-1]
    gaps = np.diff(inputs["position"].astype(np.float64))
    return {
        "distance": (np.abs(flow) @ gaps).astype(np.float32),
        "squared": (flow**2 @ gaps).astype(np.float32),
    }
