import numpy as np


TOLERANCE = {"features": (1e-4, 1e-5)}


def make_inputs(rng):
    return {
        "image": rng.normal(0.0, 1.0, (2, 5, 61, 67)).astype(np.float32),
        "filters": rng.normal(0.0, 0.3, (7, 5, 3, 3)).astype(np.float32),
        "bias": rng.normal(0.0, 0.5, 7).astype(np.float32),
    }


def reference(inputs):
    padded = np.pad(inputs["image"].astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    filters = inputs["filters"].astype(np.float64)
    features = np.zeros((2, 7, 31, 34)) + inputs["bias"].astype(np.float64)[:, None, None]
    for i in range(3):
        for j in range(3):
            patch = padded[:, :, i : i + 61 : 2, j : j + 67 : 2]
            features += np.einsum("ncyx,oc->noyx", patch, filters[:, :, i, j])
    return {"features": np.maximum(features, 0.0).astype(np.float32)}
