import numpy as np


# A few sweeps of five-term float32 updates with factor 1.6: errors of some 1e-6 of values near 5.
TOLERANCE = {"solution": (2e-5, 5e-5)}


def make_inputs(rng, height, width, sweeps):
    make_inputs.sweeps = sweeps
    return {
        "guess": rng.normal(0.0, 2.0, (height, width)).astype(np.float32),
        "source": rng.normal(0.0, 1.0, (height, width)).astype(np.float32),
    }


def reference(inputs):
    u = inputs["guess"].astype(np.float64)
    f = inputs["source"].astype(np.float64)[1:-1, 1:-1]
    r, c = np.indices(f.shape)
    for _ in range(make_inputs.sweeps):
        for colour in (0, 1):
            pick = (r + c) % 2 == colour
            q = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - f) / 4.0
            inner = u[1:-1, 1:-1]
            inner[pick] += 1.6 * (q - inner)[pick]
    return {"solution": u.astype(np.float32)}
