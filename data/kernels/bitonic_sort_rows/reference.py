import numpy as np


TOLERANCE = {"sorted_keys": (0, 0), "order": (0, 0)}


def make_inputs(rng, rows, cols, values="normal"):
    if values == "ties":  # few values, among them the largest floats; sorted, reversed and constant rows
        keys = rng.choice([-3.0e38, -1.0, 0.0, 1.0, 3.0e38], (rows, cols))
        keys[0::4].sort(axis=1)
        keys[1::4] = np.arange(cols, 0, -1)
        keys[2::4] = -7.5
    else:  # rounded to hundredths, so that rows hold many equal keys
        keys = np.round(rng.normal(0.0, 1.0, (rows, cols)), 2)
    return {"sizes": np.array([rows, cols], dtype=np.int32), "keys": keys.astype(np.float32)}


def reference(inputs):
    order = np.argsort(inputs["keys"], axis=1, kind="stable")
    return {
        "sorted_keys": np.take_along_axis(inputs["keys"], order, axis=1),
        "order": order.astype(np.int32),
    }
