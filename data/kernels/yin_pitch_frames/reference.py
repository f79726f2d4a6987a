import numpy as np


TOLERANCE = {"lag": (0, 0), "difference": (0, 0)}


def make_inputs(rng, samples, window, lags, hop, values="voices"):
    t = np.arange(samples)
    period = np.interp(t, np.linspace(0, samples, 9), rng.uniform(0.2 * lags + 3, 0.8 * lags + 3, 9))
    phase = 2 * np.pi * np.cumsum(1.0 / period)
    voice = np.sin(phase) + 0.5 * np.sin(2 * phase + 1.0) + 0.3 * np.sin(3 * phase + 2.0)
    loud = np.repeat(rng.choice([0.0, 1.0, 1.0], samples // (2 * window) + 1), 2 * window)[:samples]
    x = 4000.0 * loud * voice + rng.normal(0.0, 120.0, samples)
    if values == "extremes":
        x = np.where(t // 100 % 2 == 0, 32767, -32768) + 0.0
        x[7000:10000] = 0.0
        x[10000:] = rng.choice([-32768, 32767], samples - 10000)
        x[15000:] = np.tile(x[15000:15333], 20)[: samples - 15000]
    sizes = np.array([samples, window, lags, hop], dtype=np.int32)
    return {"sizes": sizes, "x": np.clip(np.rint(x), -32768, 32767).astype(np.int16)}


def reference(inputs):
    _, window, lags, hop = (int(v) for v in inputs["sizes"])
    x = inputs["x"].astype(np.int64)
    frames = np.lib.stride_tricks.sliding_window_view(x, window + lags)[::hop]
    d = np.zeros((len(frames), lags + 1), dtype=np.int64)
    for lag in range(1, lags + 1):
        d[:, lag] = np.sum((frames[:, :window] - frames[:, lag : lag + window]) ** 2, axis=1)
    below = 10 * d * np.arange(lags + 1) < np.cumsum(d, axis=1)
    best = np.zeros(len(frames), dtype=np.int32)
    for i in np.flatnonzero(below.any(axis=1)):
        lag = int(np.argmax(below[i]))
        while lag < lags and d[i, lag + 1] < d[i, lag]:
            lag += 1
        best[i] = lag
    difference = np.where(best > 0, d[np.arange(len(d)), best], d[:, 1:].min(axis=1))
    return {"lag": best, "difference": difference}
