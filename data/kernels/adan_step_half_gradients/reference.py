import numpy as np


TOLERANCE = {"new_weights": (1e-5, 1e-6), "new_state": (1e-5, 1e-6)}


def make_inputs(rng, count, pattern="normal"):
    grad = rng.normal(0.0, 0.5, count)
    last = grad + rng.normal(0.0, 0.3, count)
    state = np.stack([rng.normal(0.0, 0.3, count), rng.normal(0.0, 0.2, count), rng.exponential(0.2, count)])
    hyper = [0.015625, 0.02, 0.08, 0.01, 1e-6, 0.02]
    if pattern == "flat":  # weights without a gradient or a state, equal gradients twice, very large ones, no decay
        grad[::3] = 0.0
        last[::3] = 0.0
        state[:, ::6] = 0.0
        last[1::3] = grad[1::3]
        grad[2::300] = 30000.0
        hyper = [0.25, 0.5, 0.25, 0.125, 0.001, 0.0]
    return {
        "sizes": np.array([count], dtype=np.int32),
        "hyper": np.array(hyper, dtype=np.float32),
        "grad": grad.astype(np.float16),
        "last_grad": last.astype(np.float16),
        "weights": rng.normal(0.0, 1.0, count).astype(np.float32),
        "state": state.astype(np.float32),
    }


def reference(inputs):
    rate, b1, b2, b3, tiny, decay = inputs["hyper"].astype(np.float64)
    m, v, n = inputs["state"].astype(np.float64)
    g = inputs["grad"].astype(np.float64)
    change = g - inputs["last_grad"].astype(np.float64)
    m = (1 - b1) * m + b1 * g
    v = (1 - b2) * v + b2 * change
    n = (1 - b3) * n + b3 * (g + (1 - b2) * change) ** 2
    step = rate / (np.sqrt(n) + tiny) * (m + (1 - b2) * v)
    weights = (inputs["weights"] - step) / (1 + decay * rate)
    return {"new_weights": weights.astype(np.float32), "new_state": np.stack([m, v, n]).astype(np.float32)}
