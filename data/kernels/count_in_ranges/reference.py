import numpy as np


TOLERANCE = {"counts": (0, 0)}


def make_inputs(rng, n, ranges, values="uniform"):
    # Limits are values themselves, where < and <= differ; one range in eight is empty or reversed.
    data = rng.integers(-5000, 5001, n)
    low = rng.choice(data, ranges)
    high = low + rng.integers(1, 4000, ranges)
    if values == "limits":  # ends of int32, where a difference overflows
        data = rng.choice([-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 2, 2**31 - 1], n)
        low, high = rng.choice(data, ranges), rng.choice(data, ranges)
        low[0], high[0] = -(2**31), 2**31 - 1
    low[3::8] = high[3::8]
    high[7::16] = -5000
    return {
        "sizes": np.array([n, ranges], dtype=np.int32),
        "values": data.astype(np.int32),
        "low": low.astype(np.int32),
        "high": high.astype(np.int32),
    }


def reference(inputs):
    ordered = np.sort(inputs["values"])
    below = np.searchsorted(ordered, inputs["high"]) - np.searchsorted(ordered, inputs["low"])
    return {"counts": np.maximum(below, 0).astype(np.int32)}
