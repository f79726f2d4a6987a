import numpy as np


# About 30 roundings a product, up to 1024 products on unit vectors: error grows like length * 1e-7 at worst.
TOLERANCE = {"product": (1e-3, 1e-4)}


def make_inputs(rng, chains, length):
    q = rng.normal(0.0, 1.0, (chains, length, 4))
    q /= np.linalg.norm(q, axis=2, keepdims=True)
    q *= rng.uniform(0.99, 1.01, (chains, length, 1))
    return {"links": q.astype(np.float32)}


def reference(inputs):
    q = inputs["links"].astype(np.float64)
    r = q[:, 0]
    for k in range(1, q.shape[1]):
        w1, x1, y1, z1 = r.T
        w2, x2, y2, z2 = q[:, k].T
        r = np.stack(
            [
                w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
                w1 * x2 + w2 * x1 + y1 * z2 - z1 * y2,
                w1 * y2 + w2 * y1 + z1 * x2 - x1 * z2,
                w1 * z2 + w2 * z1 + x1 * y2 - y1 * x2,
            ],
            axis=1,
        )
    return {"product": (r / np.linalg.norm(r, axis=1, keepdims=True)).astype(np.float32)}
