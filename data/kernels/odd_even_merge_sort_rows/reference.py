import numpy as np


TOLERANCE = {"sorted": (0, 0)}


def make_inputs(rng, rows, cols, values="random"):
    # Half of the numbers need the upper 32 bits, and half of them the lower ones, to be put in order.
    x = rng.integers(-(2**63), 2**63 - 1, (rows, cols), dtype=np.int64, endpoint=True)
    near = rng.random((rows, cols)) < 0.5
    x[near] = 2**40 + x[near] % 100000
    if values == "ties":  # the ends of the range (also the padding's value), few distinct numbers, sorted rows
        x[::4] = rng.choice([-(2**63), 2**63 - 1, -1, 0], x[::4].shape)
        x[1::4] = np.sort(x[1::4], axis=1)
        x[2::4] = np.sort(x[2::4], axis=1)[:, ::-1]
    return {"sizes": np.array([rows, cols], dtype=np.int32), "x": x}


def reference(inputs):
    return {"sorted": np.sort(inputs["x"], axis=1)}
