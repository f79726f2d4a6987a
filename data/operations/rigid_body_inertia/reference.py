import numpy as np


# Float32 sums over up to 10000 particles; off-diagonal entries cancel, which the absolute part covers.
TOLERANCE = {"center": (1e-4, 2e-5), "inertia": (2e-4, 5e-2)}


def make_inputs(rng, bodies, size):
    p = rng.normal(0.0, 1.0, (bodies, size, 3)) @ rng.normal(0.0, 0.8, (bodies, 3, 3))
    p += rng.uniform(-2.0, 2.0, (bodies, 1, 3))
    m = rng.uniform(0.1, 2.0, (bodies, size, 1))
    return {"particles": np.concatenate([p, m], axis=2).astype(np.float32)}


def reference(inputs):
    q = inputs["particles"].astype(np.float64)
    m, p = q[..., 3], q[..., :3]
    c = (m[..., None] * p).sum(axis=1) / m.sum(axis=1)[:, None]
    x, y, z = np.moveaxis(p - c[:, None], 2, 0)
    parts = [m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y), -m * x * y, -m * x * z, -m * y * z]
    inertia = np.stack([t.sum(axis=1) for t in parts], axis=1)
    return {"center": c.astype(np.float32), "inertia": inertia.astype(np.float32)}
