import numpy as np


TOLERANCE = {"gated": (1e-4, 1e-5)}


def make_inputs(rng, batch, channels, length, dilation, values="normal"):
    signal = rng.normal(0.0, 1.0, (batch, channels, length))
    weights = rng.normal(0.0, 0.6 / np.sqrt(channels), (2, channels, channels, 3))
    bias = rng.normal(0.0, 0.5, (2, channels))
    if values == "saturating":  # arguments in the hundreds, and silent samples in between
        signal = np.where(rng.random(signal.shape) < 0.5, 0.0, 40.0 * signal)
        weights *= 5.0
    return {
        "sizes": np.array([batch, channels, length, dilation], dtype=np.int32),
        "signal": signal.astype(np.float32),
        "weights": weights.astype(np.float32),
        "bias": bias.astype(np.float32),
    }


def reference(inputs):
    signal, weights = inputs["signal"].astype(np.float64), inputs["weights"].astype(np.float64)
    length, dilation = signal.shape[2], int(inputs["sizes"][3])
    sums = [np.zeros_like(signal) + inputs["bias"][g].astype(np.float64)[:, None] for g in range(2)]
    for tap in range(3):
        delay = min((2 - tap) * dilation, length)
        for g in range(2):
            sums[g][:, :, delay:] += weights[g, :, :, tap] @ signal[:, :, : length - delay]
    with np.errstate(over="ignore"):
        return {"gated": (np.tanh(sums[0]) / (1.0 + np.exp(-sums[1]))).astype(np.float32)}
