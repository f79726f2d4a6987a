import numpy as np


# float32 sums of 128 complex products of size 1 with phases good to about 1e-5, then squared.
TOLERANCE = {"power": (2e-4, 5e-6)}


def make_inputs(rng, pulses, samples):
    j = np.arange(128)
    s = np.exp(1j * np.pi * (j - 64.0) ** 2 / 128)
    z = rng.normal(0, 0.4, (pulses, samples)) + 1j * rng.normal(0, 0.4, (pulses, samples))
    for p in range(pulses):
        for d in rng.integers(0, samples - 127, 3):
            z[p, d : d + 128] += rng.uniform(0.3, 1.5) * np.exp(1j * rng.uniform(0, 6)) * s
    return {"echo": np.stack([z.real, z.imag], axis=-1).astype(np.float32)}


def reference(inputs):
    e = inputs["echo"].astype(np.float64)
    z = e[..., 0] + 1j * e[..., 1]
    c = np.exp(-1j * np.pi * (np.arange(128) - 64.0) ** 2 / 128)
    n = z.shape[1] - 127
    acc = np.zeros((len(z), n), complex)
    for j in range(128):
        acc += c[j] * z[:, j : j + n]
    acc /= 128
    return {"power": (acc.real**2 + acc.imag**2).astype(np.float32)}
