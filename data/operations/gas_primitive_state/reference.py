import numpy as np


# E minus the kinetic energy cancels in fast cells: 1e-4 relative and some 1e-5 absolute; the floor softens the rest.
TOLERANCE = {"pressure": (1e-4, 3e-5), "mach": (2e-3, 1e-5)}


def make_inputs(rng, cells):
    rho = np.exp(rng.normal(0, 1, cells))
    u, v = rng.normal(0, 1, cells), rng.normal(0, 1, cells)
    p = np.exp(rng.normal(0, 1, cells))
    p[rng.random(cells) < 0.05] = -0.3
    rho[rng.random(cells) < 0.03] = 0.004
    return {"conserved": np.stack([rho, rho * u, rho * v, p / 0.4 + 0.5 * rho * (u * u + v * v)]).astype(np.float32)}


def reference(inputs):
    rho, mx, my, e = inputs["conserved"].astype(np.float64)
    rho = np.maximum(rho, 0.01)
    m2 = mx * mx + my * my
    p = np.maximum(0.4 * (e - m2 / (2 * rho)), 0.001)
    return {"pressure": p.astype(np.float32), "mach": (np.sqrt(m2) / rho / np.sqrt(1.4 * p / rho)).astype(np.float32)}
