import numpy as np


# Three products in float32, sums below about 50.
TOLERANCE = {"y": (1e-5, 2e-5)}


def make_inputs(rng, batch, n):
    lower, upper = rng.normal(0.0, 1.0, n), rng.normal(-0.5, 1.0, n)
    lower[0], upper[-1] = 77.0, -55.0
    return {
        "lower": lower.astype(np.float32),
        "diag": rng.uniform(-3.0, 3.0, n).astype(np.float32),
        "upper": upper.astype(np.float32),
        "x": rng.normal(0.2, 1.0, (batch, n)).astype(np.float32),
    }


def reference(inputs):
    lower, diag, upper, x = (inputs[k].astype(np.float64) for k in ("lower", "diag", "upper", "x"))
    y = diag * x
    y[:, 1:] += lower[1:] * x[:, :-1]
    y[:, :-1] += upper[:-1] * x[:, 1:]
    return {"y": y.astype(np.float32)}
