import numpy as np


# Nine products and sums in float32 of size below 10; max is continuous.
TOLERANCE = {"y": (1e-5, 5e-6)}


def make_inputs(rng, batch, channels, height, width):
    return {
        "x": rng.normal(0.0, 1.0, (batch, channels, height, width)).astype(np.float32),
        "weight": rng.normal(0.0, 0.4, (channels, 3, 3)).astype(np.float32),
        "bias": rng.normal(0.0, 0.3, channels).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    w = inputs["weight"].astype(np.float64)
    h, v = x.shape[2:]
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    t = np.broadcast_to(inputs["bias"].astype(np.float64)[None, :, None, None], x.shape).copy()
    for i in range(3):
        for j in range(3):
            t += w[:, i, j][None, :, None, None] * p[:, :, i : i + h, j : j + v]
    return {"y": np.maximum(x, t).astype(np.float32)}
