import numpy as np


TOLERANCE = {"error": (1e-3, 1e-4), "weights": (1e-3, 1e-4)}


def make_inputs(rng, channels, samples, values="echo"):
    x = rng.normal(0.0, 1.0, (channels, samples))
    echo = rng.normal(0.0, 0.3, (channels, 32)) * 0.9 ** np.arange(32)
    padded = np.pad(x, ((0, 0), (31, 0)))
    desired = sum(echo[:, k : k + 1] * padded[:, 31 - k : 31 - k + samples] for k in range(32))
    desired += rng.normal(0.0, 0.05, (channels, samples))
    if values == "silence":  # nothing to learn from in the first half
        x[:, : samples // 2] = 0.0
    return {
        "sizes": np.array([channels, samples], dtype=np.int32),
        "x": x.astype(np.float32),
        "desired": desired.astype(np.float32),
        "rate": np.array([0.004], dtype=np.float32),
    }


def reference(inputs):
    x, desired = inputs["x"].astype(np.float64), inputs["desired"].astype(np.float64)
    rate = float(inputs["rate"][0])
    weights, line = np.zeros((len(x), 32)), np.zeros((len(x), 32))
    error = np.empty((x.shape[1], len(x)))
    for t, (newest, wanted) in enumerate(zip(x.T, desired.T, strict=True)):
        line[:, 1:] = line[:, :-1].copy()
        line[:, 0] = newest
        error[t] = wanted - (weights * line).sum(axis=1)
        weights += rate * error[t][:, None] * line
    return {"error": np.ascontiguousarray(error.T).astype(np.float32), "weights": weights.astype(np.float32)}
