import numpy as np


TOLERANCE = {"crossings": (0, 0), "energy": (0, 0), "peak": (0, 0)}


def make_inputs(rng, n, window, hop, values="speech"):
    envelope = np.abs(np.sin(np.arange(n) / 3000.0))
    x = np.rint(rng.normal(0.0, 4000.0, n) * envelope)
    if values == "extremes":  # full scale, and zeros, which count as positive
        x = rng.choice([-32768, -1, 0, 0, 32767], n)
        x[: n // 3] = -32768
    sizes = np.array([n, window, hop], dtype=np.int32)
    return {"sizes": sizes, "x": np.clip(x, -32768, 32767).astype(np.int16)}


def reference(inputs):
    _, window, hop = map(int, inputs["sizes"])
    x = inputs["x"].astype(np.int64)
    negative = x < 0
    crossings = np.concatenate([[0], np.cumsum(negative[1:] != negative[:-1])])
    energy = np.concatenate([[0], np.cumsum(x**2)])
    starts = np.arange(0, len(x) - window + 1, hop)
    peak = np.lib.stride_tricks.sliding_window_view(np.abs(x), window)[::hop].max(axis=1)
    return {
        "crossings": (crossings[starts + window - 1] - crossings[starts]).astype(np.int32),
        "energy": energy[starts + window] - energy[starts],
        "peak": peak.astype(np.int32),
    }
