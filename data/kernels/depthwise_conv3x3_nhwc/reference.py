import numpy as np


TOLERANCE = {"features": (1e-4, 1e-5)}


def make_inputs(rng, batch, height, width, quads, values="normal"):
    channels = 4 * quads
    image = rng.normal(0.5, 1.5, (batch, height, width, channels))
    filters, bias = rng.normal(0.0, 0.6, (3, 3, channels)), rng.normal(0.5, 1.0, channels)
    if values == "saturating":  # exact in float; sums that are exactly 0 or 6 and many beyond
        image = rng.integers(-3, 4, image.shape)
        filters, bias = rng.integers(-1, 2, filters.shape), rng.integers(-2, 7, channels)
        bias[0] = -100
    return {
        "sizes": np.array([batch, height, width, quads], dtype=np.int32),
        "image": image.astype(np.float32),
        "filters": filters.astype(np.float32),
        "bias": bias.astype(np.float32),
    }


def reference(inputs):
    image, filters = inputs["image"].astype(np.float64), inputs["filters"].astype(np.float64)
    _, height, width, _ = image.shape
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    sums = np.zeros_like(image) + inputs["bias"].astype(np.float64)
    for i in range(3):
        for j in range(3):
            sums += filters[i, j] * padded[:, i : i + height, j : j + width]
    return {"features": np.clip(sums, 0.0, 6.0).astype(np.float32)}
