import numpy as np


# A few float32 products and differences of unit size.
TOLERANCE = {"drift": (1e-4, 1e-5), "radius": (1e-4, 2e-5)}


def make_inputs(rng, particles):
    b = rng.normal(0, 1, (particles, 3))
    b *= rng.uniform(0.5, 3, (particles, 1)) / np.linalg.norm(b, axis=1, keepdims=True)
    return {
        "electric": rng.normal(0, 1, (particles, 3)).astype(np.float32),
        "magnetic": b.astype(np.float32),
        "velocity": rng.normal(0, 2, (particles, 3)).astype(np.float32),
        "charge_mass": (rng.uniform(0.5, 2, particles) * rng.choice([-1, 1], particles)).astype(np.float32),
    }


def reference(inputs):
    e, b, v = (inputs[k].astype(np.float64) for k in ("electric", "magnetic", "velocity"))
    b2 = (b * b).sum(axis=1, keepdims=True)
    drift = np.cross(e, b) / b2
    w = v - drift
    w = w - (w * b).sum(axis=1, keepdims=True) / b2 * b
    radius = np.linalg.norm(w, axis=1) / (np.abs(inputs["charge_mass"].astype(np.float64)) * np.sqrt(b2[:, 0]))
    return {"drift": drift.astype(np.float32), "radius": radius.astype(np.float32)}
