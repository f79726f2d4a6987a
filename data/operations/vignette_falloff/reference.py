import numpy as np


# About ten float32 roundings in the polynomial, which is at least 0.2 and of terms up to 1.5: below 1e-5.
TOLERANCE = {"corrected": (2e-5, 1e-6)}


def make_inputs(rng, channels, height, width):
    c = np.stack(
        [rng.uniform(-1.0, -0.3, channels), rng.uniform(-0.5, 0.4, channels), rng.uniform(-0.3, 0.2, channels)], axis=1
    )
    return {
        "image": rng.uniform(-0.05, 1.0, (channels, height, width)).astype(np.float32),
        "coefficients": c.astype(np.float32),
    }


def reference(inputs):
    image = inputs["image"].astype(np.float64)
    _, h, w = image.shape
    cy, cx = (h - 1) / 2, (w - 1) / 2
    t = (((np.arange(h) - cy) ** 2)[:, None] + (np.arange(w) - cx) ** 2) / (cx * cx + cy * cy)
    a, b, c = inputs["coefficients"].astype(np.float64).T[:, :, None, None]
    return {"corrected": (image / np.maximum(1 + t * (a + t * (b + t * c)), 0.2)).astype(np.float32)}
