import numpy as np


TOLERANCE = {"G": (1e-4, 1e-3)}


def make_inputs(rng, samples, features, values="normal"):
    if values == "integers":  # exact in float, with columns of zeros and pairs of opposite columns
        x = rng.integers(-1000, 1001, (samples, features))
        x[:, ::7] = 0
        x[:, 3::7] = -x[:, 2::7][:, : x[:, 3::7].shape[1]]
    else:
        x = rng.normal(0.1, 1.0, (samples, features)) * rng.uniform(0.3, 1.5, features)
    return {"sizes": np.array([samples, features], dtype=np.int32), "X": x.astype(np.float32)}


def reference(inputs):
    x = inputs["X"].astype(np.float64)
    return {"G": (x.T @ x).astype(np.float32)}
