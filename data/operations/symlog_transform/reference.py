import numpy as np


# log1pf and expm1f within a few ulp; purely relative, so that ln(1 + x) without log1p fails on tiny values.
TOLERANCE = {"compressed": (2e-6, 1e-12), "expanded": (3e-6, 1e-12)}


def make_inputs(rng, n):
    size = 10.0 ** rng.uniform(-5.0, 4.0, n)
    x = size * rng.choice([-1.0, 1.0], n)
    z = np.minimum(10.0 ** rng.uniform(-5.0, 1.0, n), 9.0) * rng.choice([-1.0, 1.0], n)
    return {"x": x.astype(np.float32), "z": z.astype(np.float32)}


def reference(inputs):
    x, z = inputs["x"].astype(np.float64), inputs["z"].astype(np.float64)
    return {
        "compressed": (np.sign(x) * np.log1p(np.abs(x))).astype(np.float32),
        "expanded": (np.sign(z) * np.expm1(np.abs(z))).astype(np.float32),
    }
