import numpy as np


TOLERANCE = {"upsampled": (1e-4, 1e-4)}


def make_inputs(rng, batch, in_channels, out_channels, length, taps, stride, values="normal"):
    signal, weights = (batch, in_channels, length), (in_channels, out_channels, taps)
    if values == "integers":  # exact in float
        signal, weights = rng.integers(-9, 10, signal), rng.integers(-5, 6, weights)
        bias = rng.integers(-3, 4, out_channels)
    else:
        signal, weights = rng.normal(0.0, 1.0, signal), rng.normal(0.0, 0.3, weights)
        bias = rng.normal(0.0, 1.0, out_channels)
    return {
        "sizes": np.array([batch, in_channels, out_channels, length, taps, stride], dtype=np.int32),
        "signal": signal.astype(np.float32),
        "weights": weights.astype(np.float32),
        "bias": bias.astype(np.float32),
    }


def reference(inputs):
    signal, weights = inputs["signal"].astype(np.float64), inputs["weights"].astype(np.float64)
    batch, _, length = signal.shape
    _, out_channels, taps = weights.shape
    stride = int(inputs["sizes"][5])
    reach = (length - 1) * stride + 1
    result = np.zeros((batch, out_channels, reach + taps - 1)) + inputs["bias"].astype(np.float64)[:, None]
    for k in range(taps):
        result[:, :, k : k + reach : stride] += weights[:, :, k].T @ signal
    return {"upsampled": result.astype(np.float32)}
