import numpy as np


TOLERANCE = {"displacement_out": (1e-3, 1e-4), "velocity_out": (1e-3, 1e-4), "energy": (1e-3, 1e-4)}


def make_inputs(rng, chains, masses, steps, values="modes"):
    # The lowest modes with amplitudes of their own, and some noise; stretches stay well below 1.
    i = np.arange(1, masses + 1) / (masses + 1)
    shape = np.stack([np.sin(np.pi * mode * i) for mode in (1, 2, 3)])
    amplitude = rng.uniform(-1.0, 1.0, (chains, 3)) * min(2.0, 0.05 * (masses + 1))
    displacement = amplitude @ shape + rng.normal(0.0, 0.05, (chains, masses))
    velocity = rng.normal(0.0, 0.1, (chains, masses))
    if values == "struck":  # at rest but for a blow on the first and the last mass; the first chain stays at rest
        displacement, velocity = np.zeros((chains, masses)), np.zeros((chains, masses))
        velocity[1:, 0], velocity[1:, -1] = 0.7, -0.5
    return {
        "sizes": np.array([chains, masses, steps], dtype=np.int32),
        "displacement": displacement.astype(np.float32),
        "velocity": velocity.astype(np.float32),
    }


def reference(inputs):
    u = np.pad(inputs["displacement"].astype(np.float64), ((0, 0), (1, 1)))
    v = inputs["velocity"].astype(np.float64)
    for _ in range(inputs["sizes"][2]):
        stretch = np.diff(u, axis=1)
        tension = stretch + 0.25 * stretch**2
        v = v + 0.05 * np.diff(tension, axis=1)
        u[:, 1:-1] += 0.05 * v
    stretch = np.diff(u, axis=1)
    energy = (0.5 * v**2).sum(axis=1) + (stretch**2 / 2.0 + 0.25 * stretch**3 / 3.0).sum(axis=1)
    return {
        "displacement_out": u[:, 1:-1].astype(np.float32),
        "velocity_out": v.astype(np.float32),
        "energy": energy.astype(np.float32),
    }
