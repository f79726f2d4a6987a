import numpy as np


TOLERANCE = {"y": (1e-3, 1e-4)}


def make_inputs(rng, rows, n, values="noise"):
    x = rng.normal(0.5, 1.0, (rows, n))
    decay = rng.uniform(0.2, 0.99, rows)
    if values == "slow":  # no memory at all, and one that outlasts the row
        decay[:] = [0.0, 0.9999, 0.5, 0.999, 1.0]
    return {
        "sizes": np.array([rows, n], dtype=np.int32),
        "x": x.astype(np.float32),
        "decay": decay.astype(np.float32),
    }


def reference(inputs):
    x, decay = inputs["x"].astype(np.float64), inputs["decay"].astype(np.float64)
    weighted = (1.0 - decay)[:, None] * x
    y = np.empty((x.shape[1], x.shape[0]))
    state = np.zeros(len(decay))
    for t, value in enumerate(np.ascontiguousarray(weighted.T)):
        state = decay * state + value
        y[t] = state
    return {"y": np.ascontiguousarray(y.T).astype(np.float32)}
