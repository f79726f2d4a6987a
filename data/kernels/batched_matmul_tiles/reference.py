import numpy as np


TOLERANCE = {"C": (1e-5, 1e-4)}


def make_inputs(rng, batch, n, values="normal"):
    a, b = rng.normal(0.0, 1.0, (2, batch, n, n))
    if values == "integers":  # exact in float: zero, permutation and strictly triangular (nilpotent) matrices
        a, b = rng.integers(-100, 101, (2, batch, n, n))
        a[0::4] = 0
        a[1::4] = np.eye(n, dtype=np.int64)[rng.permutation(n)]
        a[2::4] = np.triu(a[2::4], 1)
        b[2::4] = a[2::4]
    return {
        "sizes": np.array([batch, n], dtype=np.int32),
        "A": a.astype(np.float32),
        "B": b.astype(np.float32),
    }


def reference(inputs):
    return {"C": np.matmul(inputs["A"].astype(np.float64), inputs["B"].astype(np.float64)).astype(np.float32)}
