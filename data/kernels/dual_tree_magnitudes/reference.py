import numpy as np


TOLERANCE = {"low": (1e-4, 1e-4), "magnitude": (1e-4, 1e-4)}


def make_inputs(rng, rows, half, taps, values="chirp"):
    filters = rng.normal(0.0, 1.0, (4, taps)) * np.hanning(taps + 2)[1:-1]
    filters[[0, 2]] /= np.abs(filters[[0, 2]]).sum(axis=1, keepdims=True)
    filters[[1, 3]] -= filters[[1, 3]].mean(axis=1, keepdims=True)
    t = np.arange(2 * half)
    x = np.sin(t * t / (2.0 * half) + rng.uniform(0, 6, (rows, 1))) * rng.uniform(0.5, 4.0, (rows, 1))
    x += rng.normal(0.0, 0.2, x.shape)
    if values == "plain":
        x[: rows // 2] = np.arange(rows // 2)[:, None]  # constant rows: wavelets see nothing
    return {
        "sizes": np.array([rows, half, taps], dtype=np.int32),
        "filters": filters.astype(np.float32),
        "x": x.astype(np.float32),
    }


def reference(inputs):
    filters, x = inputs["filters"].astype(np.float64), inputs["x"].astype(np.float64)
    bands = []
    for number, taps in enumerate(filters):
        delay = number // 2  # tree B looks one sample later
        bands.append(sum(tap * np.roll(x, -(k + delay), axis=1)[:, ::2] for k, tap in enumerate(taps)))
    low = np.stack([bands[0], bands[2]], axis=1)
    return {"low": low.astype(np.float32), "magnitude": np.hypot(bands[1], bands[3]).astype(np.float32)}
