import numpy as np


TOLERANCE = {"y": (1e-5, 1e-5)}


def make_inputs(rng, channels, n, outputs, values="sweep"):
    # Playback at a varying speed, in units of 1/65536 of a sample.
    speed = 1.0 + 0.5 * np.sin(np.arange(outputs) / 500.0)
    position = np.cumsum(speed) * n * 65536.0 / speed.sum()
    if values == "borders":  # whole positions, positions just before them, and the last sample
        position = 65536 * rng.integers(0, n, outputs) - rng.integers(0, 2, outputs)
    position = np.clip(position, 0, 65536 * n - 1)
    return {
        "sizes": np.array([channels, n, outputs], dtype=np.int32),
        "x": rng.normal(0.0, 1.0, (channels, n)).astype(np.float32),
        "position": position.astype(np.int64).astype(np.uint32),
    }


def reference(inputs):
    x, n = inputs["x"].astype(np.float64), inputs["x"].shape[1]
    position = inputs["position"].astype(np.int64)
    whole, u = position >> 16, (position & 65535) / 65536.0
    a, b, c, d = (x[:, np.clip(whole + k, 0, n - 1)] for k in (-1, 0, 1, 2))
    y = b + 0.5 * u * (c - a + u * (2.0 * a - 5.0 * b + 4.0 * c - d + u * (3.0 * (b - c) + d - a)))
    return {"y": y.astype(np.float32)}
