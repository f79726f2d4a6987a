import numpy as np


# Sines and cosines to about 3e-7 (angles up to 13), times radii of up to 5e4 km and speeds of up to 11 km/s.
TOLERANCE = {"position": (1e-5, 0.2), "velocity": (1e-5, 5e-5)}


def make_inputs(rng, satellites):
    angles = rng.uniform(0, 2 * np.pi, (satellites, 3))
    shape = np.stack(
        [rng.uniform(6800, 30000, satellites), rng.uniform(0, 0.7, satellites), rng.uniform(0, np.pi, satellites)],
        axis=1,
    )
    return {"elements": np.concatenate([shape, angles], axis=1).astype(np.float32)}


def reference(inputs):
    a, e, i, n, w, f = inputs["elements"].astype(np.float64).T
    p = a * (1 - e * e)
    r, u, k = p / (1 + e * np.cos(f)), w + f, np.sqrt(398600.44 / p)
    c, s = np.cos, np.sin
    x, y = s(u) + e * s(w), c(u) + e * c(w)
    position = r * np.array([c(n) * c(u) - s(n) * s(u) * c(i), s(n) * c(u) + c(n) * s(u) * c(i), s(u) * s(i)])
    velocity = k * np.array([-c(n) * x - s(n) * y * c(i), -s(n) * x + c(n) * y * c(i), y * s(i)])
    return {
        "position": np.ascontiguousarray(position.T).astype(np.float32),
        "velocity": np.ascontiguousarray(velocity.T).astype(np.float32),
    }
