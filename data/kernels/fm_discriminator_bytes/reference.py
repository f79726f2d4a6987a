import numpy as np


TOLERANCE = {"angle": (1e-5, 1e-6)}


def make_inputs(rng, channels, n, values="broadcast"):
    phase = np.cumsum(rng.normal(0.0, 0.4, (channels, n)), axis=1)
    amplitude = rng.uniform(20.0, 120.0, (channels, n))
    iq = np.stack([amplitude * np.cos(phase), amplitude * np.sin(phase)], axis=2)
    if values == "quadrants":  # turns of exactly half a circle, zeros, and the largest magnitude
        iq = rng.choice([-128, -1, 0, 1, 127], (channels, n, 2))
    return {"sizes": np.array([channels, n], dtype=np.int32), "iq": np.rint(iq).astype(np.int8)}


def reference(inputs):
    i, q = np.moveaxis(inputs["iq"].astype(np.int64), 2, 0)
    dot = i[:, 1:] * i[:, :-1] + q[:, 1:] * q[:, :-1]
    cross = q[:, 1:] * i[:, :-1] - i[:, 1:] * q[:, :-1]
    return {"angle": np.arctan2(cross.astype(np.float64), dot.astype(np.float64)).astype(np.float32)}
