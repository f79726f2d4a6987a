import numpy as np


TOLERANCE = {"features": (1e-4, 1e-4)}


def make_inputs(rng, batch, channels, height, width, filters, values="normal"):
    image, weights = (batch, channels, height, width), (filters, channels, 3, 3)
    if values == "integers":  # exact in float; sums that are exactly 0, and one filter that the ReLU silences
        image, weights = rng.integers(-3, 4, image), rng.integers(-2, 3, weights)
        bias = np.where(np.arange(filters) == 1, -1000, 0)
    else:
        image, weights = rng.normal(0.0, 1.0, image), rng.normal(0.0, 0.3, weights)
        bias = rng.normal(0.0, 0.5, filters)
    return {
        "sizes": np.array([batch, channels, height, width, filters], dtype=np.int32),
        "image": image.astype(np.float32),
        "weights": weights.astype(np.float32),
        "bias": bias.astype(np.float32),
    }


def reference(inputs):
    image, weights = inputs["image"].astype(np.float64), inputs["weights"].astype(np.float64)
    batch, channels, height, width = image.shape
    rows, columns = (height + 1) // 2, (width + 1) // 2
    padded = np.pad(image, ((0, 0), (0, 0), (1, 2), (1, 2)))
    features = np.zeros((batch, len(weights), rows * columns)) + inputs["bias"].astype(np.float64)[:, None]
    for i in range(3):
        for j in range(3):
            patch = padded[:, :, i : i + 2 * rows : 2, j : j + 2 * columns : 2]
            features += weights[:, :, i, j] @ patch.reshape(batch, channels, rows * columns)
    return {"features": np.maximum(features, 0.0).reshape(batch, -1, rows, columns).astype(np.float32)}
