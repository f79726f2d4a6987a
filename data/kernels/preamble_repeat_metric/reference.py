import numpy as np


TOLERANCE = {"correlation": (0, 0), "metric": (1e-5, 1e-6)}


def make_inputs(rng, streams, samples, half, values="bursts"):
    iq = rng.normal(0.0, 300.0, (streams, samples, 2))
    for s in range(streams):
        start = int(rng.integers(0, samples - 2 * half + 1))
        part = rng.normal(0.0, 4000.0, half) + 1j * rng.normal(0.0, 4000.0, half)
        burst = np.concatenate([part, part * np.exp(1j * rng.uniform(-3.0, 3.0))])
        iq[s, start : start + 2 * half] += np.stack([burst.real, burst.imag], axis=-1)
    if values == "extremes":
        iq = rng.choice([-32768.0, 32767.0], (streams, samples, 2))
        iq[0] = -32768.0
        iq[1, :4000] = 0.0
        iq[2, : 3 * half] = np.tile(iq[2, :half], (3, 1))
    sizes = np.array([streams, samples, half], dtype=np.int32)
    return {"sizes": sizes, "iq": np.clip(np.rint(iq), -32768, 32767).astype(np.int16)}


def window_sums(values, half):
    total = np.cumsum(values, axis=1)
    sums = total[:, half - 1 :].copy()
    sums[:, 1:] -= total[:, :-half]
    return sums


def reference(inputs):
    half = int(inputs["sizes"][2])
    iq = inputs["iq"].astype(np.int64)
    a, b = iq[:, :-half], iq[:, half:]
    re = window_sums(a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1], half)
    im = window_sums(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0], half)
    power = window_sums(b[..., 0] ** 2 + b[..., 1] ** 2, half).astype(np.float64)
    square = re.astype(np.float64) ** 2 + im.astype(np.float64) ** 2
    metric = square / np.where(power > 0, power, 1.0) ** 2
    return {"correlation": np.stack([re, im], axis=-1), "metric": metric.astype(np.float32)}
