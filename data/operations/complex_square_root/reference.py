import numpy as np


# Two square roots and a division in float32: relative error of each part within a few ulp.
TOLERANCE = {"root": (5e-6, 1e-12)}


def make_inputs(rng, rows, cols):
    r = 10.0 ** rng.uniform(-3.0, 3.0, (rows, cols))
    angle = rng.uniform(-np.pi, np.pi, (rows, cols))
    flat = rng.random((rows, cols)) < 0.3
    angle[flat] = (rng.choice([0.0, np.pi], (rows, cols)) + rng.normal(0.0, 1e-3, (rows, cols)))[flat]
    z = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=2)
    z[rng.random((rows, cols)) < 0.02] = 0.0
    z[rng.random((rows, cols)) < 0.03, 1] = 0.0
    return {"z": z.astype(np.float32)}


def reference(inputs):
    x, y = inputs["z"][..., 0].astype(np.float64), inputs["z"][..., 1].astype(np.float64)
    w = np.sqrt(x + 1j * np.abs(y))
    return {"root": np.stack([w.real, np.where(y < 0, -w.imag, w.imag)], axis=2).astype(np.float32)}
