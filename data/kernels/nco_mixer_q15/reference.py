import numpy as np


TOLERANCE = {"baseband": (0, 0)}


def make_inputs(rng, channels, n, values="noise"):
    x = rng.integers(-20000, 20001, (channels, n))
    step = rng.integers(0, 2**32, channels)
    if values == "extremes":  # full scale, and steps of 0, of one table entry, of nearly a turn
        x = rng.choice([-32768, 32767], (channels, n))
        step = np.array([0, 1, 2**22, 2**30, 2**31 + 1, 2**32 - 1])
    sine = np.rint(32767.0 * np.sin(2.0 * np.pi * np.arange(1024) / 1024.0))
    return {
        "sizes": np.array([channels, n], dtype=np.int32),
        "x": x.astype(np.int16),
        "step": step.astype(np.uint32),
        "sine": sine.astype(np.int16),
    }


def reference(inputs):
    x, sine = inputs["x"].astype(np.int64), inputs["sine"].astype(np.int64)
    phase = inputs["step"].astype(np.int64)[:, None] * np.arange(x.shape[1]) % 2**32
    entry = phase >> 22
    real = (x * sine[(entry + 256) % 1024] + 16384) >> 15
    imaginary = (-x * sine[entry] + 16384) >> 15
    return {"baseband": np.stack([real, imaginary], axis=2).astype(np.int16)}
