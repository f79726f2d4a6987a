import numpy as np


TOLERANCE = {"u": (1e-4, 1e-4), "residual": (1e-3, 1e-6)}


def _neighbours(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]


def make_inputs(rng, height, width, values="uniform"):
    u0, rhs = rng.uniform(-1.0, 1.0, (height, width)), rng.normal(0.0, 0.1, (height, width))
    if values == "sources":  # nothing but a few point sources between walls of different height
        u0[:], rhs[:] = 0.0, 0.0
        u0[0], u0[:, -1] = -2.0, 5.0
        rhs[1, :: max(width // 4, 1)] = 3.0
    if values == "alternating":  # it dies out so slowly that each single point still counts in the residual
        u0 += np.where(np.indices(u0.shape).sum(axis=0) % 2 == 0, 4.0, -4.0)
    return {
        "sizes": np.array([height, width], dtype=np.int32),
        "u0": u0.astype(np.float32),
        "rhs": rhs.astype(np.float32),
    }


def reference(inputs):
    u = inputs["u0"].astype(np.float64)
    rhs = inputs["rhs"].astype(np.float64)[1:-1, 1:-1]
    for _ in range(60):
        u[1:-1, 1:-1] = 0.25 * (_neighbours(u) + rhs)
    residual = _neighbours(u) + rhs - 4.0 * u[1:-1, 1:-1]
    return {"u": u.astype(np.float32), "residual": np.array([np.square(residual).sum()])}
