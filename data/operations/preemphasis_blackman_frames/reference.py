import numpy as np


# Two roundings and a cosine in float32; the window is near zero at its ends and the difference cancels, hence 2e-6.
TOLERANCE = {"frames": (2e-5, 2e-6)}


def make_inputs(rng, clips, samples):
    t = np.arange(samples)
    x = np.sin(2 * np.pi * rng.uniform(0.005, 0.05, (clips, 1)) * t) + rng.normal(0, 0.3, (clips, samples))
    return {"speech": x.astype(np.float32)}


def reference(inputs):
    x = inputs["speech"].astype(np.float64)
    e = x.copy()
    e[:, 1:] -= 0.97 * x[:, :-1]
    n = np.arange(256)
    w = 0.42 - 0.5 * np.cos(2 * np.pi * n / 255) + 0.08 * np.cos(4 * np.pi * n / 255)
    first = np.arange((x.shape[1] - 256) // 96 + 1) * 96
    return {"frames": (e[:, first[:, None] + n] * w).astype(np.float32)}
