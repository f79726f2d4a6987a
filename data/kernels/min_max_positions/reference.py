import numpy as np


TOLERANCE = {"extremes": (0, 0), "positions": (0, 0)}


def make_inputs(rng, n, values="ties"):
    samples = rng.integers(-3000, 3001, n)  # a narrow range: both extremes occur often
    if values == "limits":  # both ends of int32, several times, the last one at the end
        samples = rng.integers(-(2**31), 2**31, n)
        samples[[n // 3, n // 2, n - 1]] = -(2**31)
        samples[[n // 5, n // 4, n - 2]] = 2**31 - 1
    return {"sizes": np.array([n], dtype=np.int32), "samples": samples.astype(np.int32)}


def reference(inputs):
    samples = inputs["samples"]
    low, high = np.argmin(samples), np.argmax(samples)  # the first occurrence of each
    return {"extremes": samples[[low, high]], "positions": np.array([low, high], dtype=np.int32)}
