import numpy as np


# Complex products and a division in float32; numerator below 15, denominator modulus at least 0.5.
TOLERANCE = {"w": (2e-5, 3e-5)}


def make_inputs(rng, maps, points):
    def disc(n, r):
        return np.sqrt(rng.random(n)) * r * np.exp(2j * np.pi * rng.random(n))

    z = disc(points, 2.0)
    a, b, c = disc(maps, 3.0), disc(maps, 3.0), disc(maps, 1.0)
    d = np.exp(2j * np.pi * rng.random(maps)) * rng.uniform(2.6, 4.0, maps)
    coef = np.stack([v for q in (a, b, c, d) for v in (q.real, q.imag)], axis=1)
    return {"z": np.stack([z.real, z.imag], axis=1).astype(np.float32), "coef": coef.astype(np.float32)}


def reference(inputs):
    z = inputs["z"].astype(np.float64)
    z = (z[:, 0] + 1j * z[:, 1])[None, :]
    k = inputs["coef"].astype(np.float64)
    a, b, c, d = ((k[:, 2 * j] + 1j * k[:, 2 * j + 1])[:, None] for j in range(4))
    w = (a * z + b) / (c * z + d)
    return {"w": np.stack([w.real, w.imag], axis=2).astype(np.float32)}
