import numpy as np


TOLERANCE = {"position": (1e-3, 1e-3), "largest_moment": (1e-3, 1e-3)}


def make_inputs(rng, problems, steps, pattern="mild"):
    curvature = rng.uniform(0.2, 4.0, problems)
    if pattern == "steep":  # from almost flat to very steep
        curvature = 10.0 ** rng.uniform(-2.0, 2.0, problems)
    target = rng.normal(0.0, 3.0, problems)
    return {
        "sizes": np.array([problems, steps], dtype=np.int32),
        "curvature": curvature.astype(np.float32),
        "target": target.astype(np.float32),
        "start": (target + rng.choice([-1.0, 1.0], problems) * rng.uniform(0.5, 3.0, problems)).astype(np.float32),
    }


def reference(inputs):
    c, t = inputs["curvature"].astype(np.float64), inputs["target"].astype(np.float64)
    x = inputs["start"].astype(np.float64)
    m, v, z = np.zeros((3, x.size))
    for k in range(1, int(inputs["sizes"][1]) + 1):
        g = c * (x - t)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        z = np.maximum(z, v)
        x -= 0.05 / np.sqrt(k) * m / (np.sqrt(z) + 1e-6)
    return {"position": x.astype(np.float32), "largest_moment": z.astype(np.float32)}
