import numpy as np


TOLERANCE = {"result": (1e-4, 1e-3)}


def make_inputs(rng, rows, cols, values="normal"):
    if values == "integers":  # exact in float; beta is 0 and some products cancel to 0
        a, x, y = (rng.integers(-50, 51, shape) for shape in ((rows, cols), cols, rows))
        a[::5] = 0
        scalars = [-3.0, 0.0]
    else:
        a, x, y = (rng.normal(0.0, 1.0, shape) for shape in ((rows, cols), cols, rows))
        y *= 20.0
        scalars = rng.uniform(0.5, 2.0, 2) * [1.0, -1.0]
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "scalars": np.array(scalars, dtype=np.float32),
        "A": a.astype(np.float32),
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
    }


def reference(inputs):
    alpha, beta = inputs["scalars"].astype(np.float64)
    product = inputs["A"].astype(np.float64) @ inputs["x"].astype(np.float64)
    return {"result": (alpha * product + beta * inputs["y"]).astype(np.float32)}
