import numpy as np


TOLERANCE = {"magnitude": (1e-3, 1e-4)}


def make_inputs(rng, n, scales, values="noise"):
    x = rng.normal(0.0, 1.0, n) + np.sin(0.4 * np.arange(n))
    scale = rng.integers(1, 40, scales)
    if values == "bursts":  # impulses, and scales much wider than what lies between them
        x = np.zeros(n)
        x[:: n // 7] = 30.0
        scale = np.array([1, 2, 3, 8, 20, 50, 100, 128])[:scales]
    sizes = np.array([n, scales], dtype=np.int32)
    return {"sizes": sizes, "x": x.astype(np.float32), "scale": scale.astype(np.int32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    n = len(x)
    magnitude = np.empty((len(inputs["scale"]), n), dtype=np.float32)
    for row, s in enumerate(map(int, inputs["scale"])):
        u = np.arange(-4 * s, 4 * s + 1) / s
        wavelet = np.pi**-0.25 * np.exp(-0.5 * u**2 + 6j * u) / np.sqrt(s)
        length = n + 8 * s
        spectrum = np.fft.fft(x, length) * np.fft.fft(wavelet, length)
        # Reversing the conjugate wavelet gives the wavelet itself, so the correlation is a convolution.
        magnitude[row] = np.abs(np.fft.ifft(spectrum)[4 * s : 4 * s + n])
    return {"magnitude": magnitude}
