import numpy as np


# Interpolation in float32; the difference shadow_out - weight is a few 1e-7 absolute off, the mean is over thousands.
TOLERANCE = {"shadow_out": (1e-5, 1e-6), "distance": (1e-4, 1e-6)}


def make_inputs(rng, tensors, width):
    w = rng.standard_normal((tensors, width)).astype(np.float32)
    s = (w + rng.uniform(0.05, 1.0, (tensors, 1)) * rng.standard_normal(w.shape)).astype(np.float32)
    u = np.minimum(np.exp(rng.uniform(0.0, 11.0, tensors)).astype(np.int32) - 1, 30000)
    train = (rng.random(tensors) < 0.8).astype(np.uint8)
    train[:2] = [1, 0]
    return {"shadow": s, "weight": w, "updates": u.astype(np.int32), "trainable": train}


def reference(inputs):
    s, w = inputs["shadow"].astype(np.float64), inputs["weight"].astype(np.float64)
    u = inputs["updates"].astype(np.float64)
    d = np.where(inputs["trainable"] == 1, np.minimum(0.999, (1.0 + u) / (10.0 + u)), 0.0)[:, None]
    out = d * s + (1.0 - d) * w
    return {
        "shadow_out": out.astype(np.float32),
        "distance": np.sqrt(((out - w) ** 2).mean(axis=1)).astype(np.float32),
    }
