import numpy as np


TOLERANCE = {"peak": (0, 0), "worst": (0, 0)}


def make_inputs(rng, rows, cols, values="walk"):
    price = rng.uniform(-50.0, 150.0, (rows, 1)) + np.cumsum(rng.normal(0.0, 1.0, (rows, cols)), axis=1)
    if values == "negative":  # all below zero; some rows only rise, some are constant, some fall from the start
        price = -1.0 - rng.random((rows, cols)) * 1.0e6
        price[::4] = np.sort(price[::4], axis=1)
        price[1::4] = price[1::4, :1]
        price[2::4] = np.sort(price[2::4], axis=1)[:, ::-1]
    return {"sizes": np.array([rows, cols], dtype=np.int32), "price": price.astype(np.float32)}


def reference(inputs):
    price = inputs["price"]
    peak = np.maximum.accumulate(price, axis=1)
    return {"peak": peak, "worst": np.max(peak - price, axis=1)}  # one float32 subtraction, as on the device
