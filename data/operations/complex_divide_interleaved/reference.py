import numpy as np


# Some float32 roundings relative to the modulus of the quotient, which is at most 10.
TOLERANCE = {"quot": (1e-5, 1e-5)}


def make_inputs(rng, n):
    size = 10.0 ** rng.uniform(-25.0, 25.0, n)
    den = size * np.exp(2j * np.pi * rng.random(n))
    axis = rng.random(n) < 0.05
    den[axis] = (size * rng.choice([1, -1, 1j, -1j], n))[axis]
    num = den * 10.0 ** rng.uniform(-0.95, 0.95, n) * np.exp(2j * np.pi * rng.random(n))
    return {
        "num": np.stack([num.real, num.imag], axis=1).astype(np.float32),
        "den": np.stack([den.real, den.imag], axis=1).astype(np.float32),
    }


def reference(inputs):
    a, b = inputs["num"].astype(np.float64), inputs["den"].astype(np.float64)
    q = (a[:, 0] + 1j * a[:, 1]) / (b[:, 0] + 1j * b[:, 1])
    return {"quot": np.stack([q.real, q.imag], axis=1).astype(np.float32)}
