import numpy as np


TOLERANCE = {"composite": (1e-4, 1e-5)}


def make_inputs(rng, layers, pixels, values="glass"):
    rgba = rng.integers(0, 256, (layers, pixels, 4))
    rgba[..., 3] = rng.integers(0, 120, (layers, pixels)) * (rng.random((layers, pixels)) < 0.7)
    if values == "opaque":  # an opaque layer somewhere hides what lies below it; some pixels have nothing at all
        rgba[rng.integers(0, layers, pixels), np.arange(pixels), 3] = 255
        rgba[:, ::9, 3] = 0
    return {"sizes": np.array([layers, pixels], dtype=np.int32), "rgba": rgba.astype(np.uint8)}


def reference(inputs):
    composite = np.zeros((inputs["rgba"].shape[1], 4))
    for layer in inputs["rgba"]:  # the lowest one first
        alpha = layer[:, 3:] / 255.0
        colour = np.concatenate([layer[:, :3] / 255.0, np.ones_like(alpha)], axis=1)
        composite = alpha * colour + (1.0 - alpha) * composite
    return {"composite": composite.astype(np.float32)}
