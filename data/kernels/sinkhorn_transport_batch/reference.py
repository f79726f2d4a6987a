import numpy as np


TOLERANCE = {"transport": (1e-3, 1e-4), "potential": (1e-3, 1e-3)}


def make_inputs(rng, problems, rows, cols, rounds, pattern="normal"):
    # Squared distances of points in the plane, with unequal masses.
    a = rng.normal(0.0, 0.7, (problems, rows, 1, 2))
    b = rng.normal(0.5, 0.7, (problems, 1, cols, 2))
    source = rng.uniform(0.2, 1.0, (problems, rows))
    sink = rng.uniform(0.2, 1.0, (problems, cols))
    if pattern == "sharp":  # a single source, tiny masses among the sinks
        sink[:, ::4] *= 1e-5
    return {
        "sizes": np.array([problems, rows, cols, rounds], dtype=np.int32),
        "epsilon": np.array([0.03 if pattern == "sharp" else 0.125], dtype=np.float32),
        "cost": ((a - b) ** 2).sum(axis=3).astype(np.float32),
        "source": (source / source.sum(axis=1, keepdims=True)).astype(np.float32),
        "sink": (sink / sink.sum(axis=1, keepdims=True)).astype(np.float32),
    }


def log_sum_exp(values, axis):
    top = values.max(axis=axis, keepdims=True)
    return np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis)


def reference(inputs):
    epsilon = float(inputs["epsilon"][0])
    cost = inputs["cost"].astype(np.float64) / epsilon
    log_source = np.log(inputs["source"].astype(np.float64))
    log_sink = np.log(inputs["sink"].astype(np.float64))
    v = np.zeros(log_sink.shape)
    for _ in range(int(inputs["sizes"][3])):
        u = log_source - log_sum_exp(v[:, None, :] - cost, 2)
        v = log_sink - log_sum_exp(u[:, :, None] - cost, 1)
    plan = np.exp(u[:, :, None] + v[:, None, :] - cost)
    transport = epsilon * (plan * cost).sum(axis=(1, 2))
    return {"transport": transport.astype(np.float32), "potential": (epsilon * u).astype(np.float32)}
