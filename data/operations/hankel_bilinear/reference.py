import numpy as np


# float32 sums of up to 500 products, then of up to 300 results of order 20.
TOLERANCE = {"value": (1e-4, 1e-2), "hv": (5e-5, 2e-4)}


def make_inputs(rng, series, m, n):
    return {
        "h": rng.normal(0.3, 1.0, (series, m + n - 1)).astype(np.float32),
        "u": rng.normal(0.0, 1.0, m).astype(np.float32),
        "v": rng.uniform(-1.0, 1.0, n).astype(np.float32),
    }


def reference(inputs):
    h, u, v = (inputs[k].astype(np.float64) for k in ("h", "u", "v"))
    hv = np.lib.stride_tricks.sliding_window_view(h, len(v), axis=1) @ v
    return {"value": (hv @ u).astype(np.float32), "hv": hv.astype(np.float32)}
