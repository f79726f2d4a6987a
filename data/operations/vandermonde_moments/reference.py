import numpy as np


# float32 sums of up to 50000 numbers of order one; sums themselves of order 100 to 10000.
TOLERANCE = {"moments": (1e-4, 5e-3)}


def make_inputs(rng, groups, points, terms):
    x = rng.uniform(-1.0, 1.0, (groups, points))
    x[:, ::97] = 0.0
    w = rng.normal(0.3, 1.0, (groups, points)) + x * rng.normal(0.0, 0.5, (groups, 1))
    exponent = np.concatenate([[0, 1], 2 + np.sort(rng.permutation(12)[: terms - 2])])
    return {"x": x.astype(np.float32), "w": w.astype(np.float32), "exponent": exponent.astype(np.int32)}


def reference(inputs):
    x, w = inputs["x"].astype(np.float64), inputs["w"].astype(np.float64)
    columns, power, reached = [], np.ones_like(x), 0
    for e in inputs["exponent"]:
        while reached < e:
            power = power * x
            reached += 1
        columns.append(np.sum(w * power, axis=1))
    return {"moments": np.stack(columns, axis=1).astype(np.float32)}
