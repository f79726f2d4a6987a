import numpy as np


TOLERANCE = {"product": (1e-6, 1e-7)}


def make_inputs(rng, m, n, words, values="uniform"):
    activations = rng.integers(-128, 128, (m, 4 * words), dtype=np.int8)
    weights = rng.integers(-127, 128, (n, 4 * words), dtype=np.int8)
    if values == "extremes":  # the largest sums, of either sign, and rows of zeros
        activations[:] = -128
        weights[:] = rng.choice(np.array([-128, 0, 127], dtype=np.int8), (n, 1))
    return {
        "sizes": np.array([m, n, words], dtype=np.int32),
        "activations": activations,
        "weights": weights,
        "row_scale": rng.uniform(0.01, 0.1, m).astype(np.float32),
        "col_scale": rng.uniform(0.001, 0.02, n).astype(np.float32),
    }


def reference(inputs):
    sums = inputs["activations"].astype(np.float64) @ inputs["weights"].astype(np.float64).T
    scaled = sums * inputs["row_scale"][:, None].astype(np.float64) * inputs["col_scale"].astype(np.float64)
    return {"product": scaled.astype(np.float32)}
