import numpy as np


# Values are selected and positions are integers: exact.
TOLERANCE = {"low": (0, 0), "offset": (0, 0)}


def make_inputs(rng, channels, length):
    return {"signal": (rng.integers(-60, 61, (channels, length)) * 0.25).astype(np.float32)}


def reference(inputs):
    x = inputs["signal"]
    n = x.shape[1] - 12
    s = np.stack([x[:, 3 * k : 3 * k + n] for k in range(5)])
    return {"low": s.min(0), "offset": s.argmin(0).astype(np.int32)}
