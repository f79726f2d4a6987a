import numpy as np


# Determinants between 5 and 100 from a dozen float32 products, then one division per entry.
TOLERANCE = {"inverse": (1e-4, 1e-5), "det": (2e-5, 1e-4)}


def make_inputs(rng, count):
    a = rng.uniform(-1.0, 1.0, (count, 3, 3))
    a[:, [0, 1, 2], [0, 1, 2]] = rng.uniform(2.3, 4.0, (count, 3)) * rng.choice([-1.0, 1.0], (count, 3))
    order = np.argsort(rng.random((count, 3)), axis=1)
    return {"a": np.take_along_axis(a, order[:, :, None], axis=1).astype(np.float32)}


def reference(inputs):
    a = inputs["a"].astype(np.float64)
    return {"inverse": np.linalg.inv(a).astype(np.float32), "det": np.linalg.det(a).astype(np.float32)}
