import numpy as np


# sqrt(x*x+1)-1 loses about 1e-7 absolutely near zero; everything else is a few ulp.
TOLERANCE = {"value": (1e-5, 1e-6), "slope": (1e-5, 1e-6)}


def make_inputs(rng, count):
    return {"x": (rng.normal(0.0, 1.0, count) * rng.choice([0.3, 2.0, 10.0], count)).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    r = np.sqrt(x * x + 1.0)
    return {"value": ((r - 1.0) / 2.0 + x).astype(np.float32), "slope": (x / (2.0 * r) + 1.0).astype(np.float32)}
