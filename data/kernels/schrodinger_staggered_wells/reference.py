import numpy as np


TOLERANCE = {"psi_out": (1e-3, 1e-4), "norm": (1e-3, 1e-4)}


def make_inputs(rng, systems, points, steps, values="wells"):
    x = np.linspace(0.0, 1.0, points)
    middle, wide = rng.uniform(0.3, 0.7, (systems, 1)), rng.uniform(0.05, 0.15, (systems, 1))
    envelope = np.exp(-(((x - middle) / wide) ** 2)) * (x > 0) * (x < 1)
    wave = rng.uniform(-0.5, 0.5, (systems, 1)) * np.arange(points)
    psi = np.stack([envelope * np.cos(wave), envelope * np.sin(wave)], axis=1)
    potential = rng.uniform(0.0, 0.5, (systems, points))
    if values == "free":
        potential[:] = 0.0
    return {
        "sizes": np.array([systems, points, steps], dtype=np.int32),
        "psi": psi.astype(np.float32),
        "potential": potential.astype(np.float32),
    }


def reference(inputs):
    re, im = np.moveaxis(inputs["psi"].astype(np.float64), 1, 0).copy()
    potential = inputs["potential"].astype(np.float64)

    def energy(f):
        out = np.zeros_like(f)
        out[:, 1:-1] = -0.5 * (f[:, 2:] - 2.0 * f[:, 1:-1] + f[:, :-2]) + potential[:, 1:-1] * f[:, 1:-1]
        return out

    for _ in range(inputs["sizes"][2]):
        re += 0.25 * energy(im)
        im -= 0.25 * energy(re)
    norm = (re**2 + im**2).sum(axis=1)
    return {"psi_out": np.stack([re, im], axis=1).astype(np.float32), "norm": norm.astype(np.float32)}
