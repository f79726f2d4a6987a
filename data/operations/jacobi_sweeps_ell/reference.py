import numpy as np


# Ten contracting sweeps in float32; rounding errors do not grow.
TOLERANCE = {"x": (1e-4, 1e-5)}


def make_inputs(rng, n, width):
    col = (np.arange(n) + rng.integers(1, n, (width, n))) % n
    col[rng.random((width, n)) < 0.3] = -1
    value = rng.normal(0, 1, (width, n)).astype(np.float32)
    total = np.where(col < 0, 0, np.abs(value)).sum(axis=0)
    diagonal = (total * rng.uniform(1.1, 1.6, n) + 0.5) * rng.choice([-1, 1], n)
    return {
        "col": col.astype(np.int32),
        "value": value,
        "diagonal": diagonal.astype(np.float32),
        "b": rng.normal(0, 3, n).astype(np.float32),
    }


def reference(inputs):
    col, b, d = inputs["col"], inputs["b"].astype(np.float64), inputs["diagonal"].astype(np.float64)
    value = np.where(col < 0, 0, inputs["value"].astype(np.float64))
    x = np.zeros(len(b))
    for _ in range(10):
        total = np.zeros(len(b))
        for c, v in zip(col, value, strict=False):
            total += v * x[np.maximum(c, 0)]
        x = (b - total) / d
    return {"x": x.astype(np.float32)}
