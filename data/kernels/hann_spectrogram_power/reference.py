import numpy as np


TOLERANCE = {"power": (1e-3, 1e-3)}


def make_inputs(rng, n, window, hop, values="noise"):
    x = rng.normal(0.0, 1.0, n)
    if values == "tones":
        t = np.arange(n)
        x = 3.0 * np.sin(0.02 * t) + np.sin(1.3 * t) + 0.5 * np.sign(np.sin(0.0007 * t))
    return {"sizes": np.array([n, window, hop], dtype=np.int32), "x": x.astype(np.float32)}


def reference(inputs):
    _, window, hop = map(int, inputs["sizes"])
    frames = np.lib.stride_tricks.sliding_window_view(inputs["x"].astype(np.float64), window)[::hop]
    hann = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(window) / window)
    return {"power": (np.abs(np.fft.rfft(frames * hann, axis=1)) ** 2).astype(np.float32)}
