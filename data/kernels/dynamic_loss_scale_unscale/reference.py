import numpy as np


TOLERANCE = {"unscaled": (1e-6, 1e-12), "state": (0, 0)}


def make_inputs(rng, count, pattern="clean"):
    values = (rng.normal(0.0, 1.0, count) * 2.0 ** rng.integers(-22, 12, count)).astype(np.float16)
    streak = int(rng.integers(0, 1999))
    if count % 2 == 1:
        streak = 1999  # the scale doubles
    if pattern == "overflow":  # one infinity, in the last value
        values[-1] = np.inf
    return {
        "sizes": np.array([count], dtype=np.int32),
        "grad_bits": values.view(np.uint16),
        "scale": np.array([2.0 ** rng.integers(3, 15)], dtype=np.float32),
        "streak": np.array([streak], dtype=np.int32),
    }


def reference(inputs):
    values = inputs["grad_bits"].view(np.float16).astype(np.float64)
    scale, streak = float(inputs["scale"][0]), int(inputs["streak"][0]) + 1
    if not np.isfinite(values).all():
        unscaled, state = np.zeros(values.size), [1, scale / 2, 0]
    else:
        unscaled = values / scale
        state = [0, 2 * scale, 0] if streak == 2000 else [0, scale, streak]
    return {"unscaled": unscaled.astype(np.float32), "state": np.array(state, dtype=np.float32)}
