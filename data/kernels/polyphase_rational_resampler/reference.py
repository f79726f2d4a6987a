import numpy as np


TOLERANCE = {"y": (1e-4, 1e-4)}


def make_inputs(rng, n, taps, up, down, values="noise"):
    x = rng.normal(0.0, 1.0, n)
    if values == "steps":
        x = np.repeat(rng.normal(0.0, 3.0, n // 40 + 1), 40)[:n]
    # Not symmetric: taps in reverse order give another result.
    h = np.sinc((np.arange(taps) - 0.4 * taps) / up) * (1.0 + 0.1 * rng.normal(size=taps))
    return {
        "sizes": np.array([n, taps, up, down], dtype=np.int32),
        "x": x.astype(np.float32),
        "h": h.astype(np.float32),
    }


def reference(inputs):
    n, taps, up, down = map(int, inputs["sizes"])
    x, h = inputs["x"].astype(np.float64), inputs["h"].astype(np.float64)
    position = np.arange((n * up - 1) // down + 1) * down
    phase, newest = position % up, position // up
    padded = np.concatenate([np.zeros(taps // up + 1), x])
    y = np.zeros(len(position))
    for j in range(taps // up + 1):
        k = phase + j * up
        y += np.where(k < taps, h[np.minimum(k, taps - 1)], 0.0) * padded[newest - j + taps // up + 1]
    return {"y": y.astype(np.float32)}
