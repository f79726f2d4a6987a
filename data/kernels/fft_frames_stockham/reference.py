import numpy as np


TOLERANCE = {"spectrum": (1e-4, 2e-3)}


def make_inputs(rng, channels, frames, n, values="noise"):
    z = rng.normal(0.0, 1.0, (channels, frames, n, 2))
    if values == "tones":  # one bin each: all other bins nearly vanish
        turns = rng.integers(0, n, (channels, frames, 1)) * np.arange(n) % n / n
        z = np.stack([np.cos(2.0 * np.pi * turns), np.sin(2.0 * np.pi * turns)], axis=3)
    return {"sizes": np.array([channels, frames, n], dtype=np.int32), "z": z.astype(np.float32)}


def reference(inputs):
    z = inputs["z"].astype(np.float64)
    spectrum = np.fft.fft(z[..., 0] + 1j * z[..., 1], axis=2)
    return {"spectrum": np.stack([spectrum.real, spectrum.imag], axis=3).astype(np.float32)}
