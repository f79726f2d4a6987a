import numpy as np


# Single-precision functions within a few ulp; inputs are quarters plus 1/16, so no jump is hit.
TOLERANCE = {"y": (1e-5, 1e-6)}


def make_inputs(rng, nodes, points):
    x = rng.integers(-20, 20, (nodes, points)) * 0.25 + 0.0625 + rng.uniform(-0.05, 0.05, (nodes, points))
    kind = np.concatenate([np.arange(6), rng.integers(0, 6, nodes - 6)])
    return {"x": x.astype(np.float32), "kind": rng.permutation(kind).astype(np.int32)}


def reference(inputs):
    y = np.empty(inputs["x"].shape, dtype=np.float32)
    functions = [
        np.sin,
        lambda v: np.exp(-v * v),
        np.abs,
        lambda v: 2.0 * (v - np.floor(v + 0.5)),
        lambda v: v**3 / (1.0 + v * v),
        lambda v: np.where(v > 0, 1.0, -1.0),
    ]
    for row, (v, k) in enumerate(zip(inputs["x"].astype(np.float64), inputs["kind"], strict=False)):
        y[row] = functions[k](v)
    return {"y": y}
