import numpy as np


TOLERANCE = {"y": (1e-3, 1e-4)}


def make_inputs(rng, samples, channels, sections, values="noise"):
    radius, angle = rng.uniform(0.3, 0.9, sections), rng.uniform(0.2, 2.8, sections)
    zero = rng.uniform(0.2, 2.8, sections)
    gain = rng.uniform(0.4, 0.7, sections)
    sos = np.stack(
        [gain, -2.0 * gain * np.cos(zero), gain, -2.0 * radius * np.cos(angle), radius**2],
        axis=1,
    )
    x = rng.normal(0.0, 1.0, (samples, channels))
    if values == "impulse":
        x[:] = 0.0
        x[rng.integers(0, samples, channels), np.arange(channels)] = 50.0
    return {
        "sizes": np.array([samples, channels, sections], dtype=np.int32),
        "x": x.astype(np.float32),
        "sos": sos.astype(np.float32),
    }


def reference(inputs):
    y = inputs["x"].astype(np.float64)
    for b0, b1, b2, a1, a2 in inputs["sos"].astype(np.float64):
        s1, s2 = np.zeros(y.shape[1]), np.zeros(y.shape[1])
        for t in range(len(y)):
            x = y[t].copy()
            y[t] = b0 * x + s1
            s1 = b1 * x - a1 * y[t] + s2
            s2 = b2 * x - a2 * y[t]
    return {"y": y.astype(np.float32)}
