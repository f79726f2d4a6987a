import numpy as np


TOLERANCE = {"density": (1e-4, 1e-4), "acceleration": (2e-3, 2e-3)}


def make_inputs(rng, particles, entries, values="cloud"):
    positions = np.concatenate([rng.uniform(0, 1, (particles, 3)), rng.uniform(0.5, 1.5, (particles, 1))], axis=1)
    inner = np.sort(rng.integers(0, entries + 1, particles - 1))
    if values == "lonely":  # most particles have no neighbour, and one is at the same place as its neighbours
        inner[: particles // 2] = 0
        positions[-20:, :3] = positions[-1, :3]
    constants = np.array([0.6, 1.0, 2.0])  # smoothing length, rest density, stiffness
    return {
        "sizes": np.array([particles, entries], dtype=np.int32),
        "positions": positions.astype(np.float32),
        "offsets": np.concatenate([[0], inner, [entries]]).astype(np.int32),
        "neighbors": rng.integers(0, particles, entries).astype(np.int32),
        "constants": constants.astype(np.float32),
    }


def reference(inputs):
    positions = inputs["positions"].astype(np.float64)
    h, rest, stiffness = inputs["constants"].astype(np.float64)
    particles = len(positions)
    i = np.repeat(np.arange(particles), np.diff(inputs["offsets"]))
    j = inputs["neighbors"]
    d = positions[i, :3] - positions[j, :3]
    r = np.sqrt((d**2).sum(axis=1))
    q = r / h
    norm = 8.0 / (np.pi * h**3)
    w = norm * np.where(q <= 0.5, 6 * (q**3 - q**2) + 1, 2 * np.maximum(1 - q, 0) ** 3)
    density = norm * positions[:, 3] + np.bincount(i, positions[j, 3] * w, particles)
    pressure = stiffness * (density - rest)
    slope = norm / h * np.where(q <= 0.5, 6 * (3 * q**2 - 2 * q), -6 * np.maximum(1 - q, 0) ** 2)
    factor = positions[j, 3] * (pressure[i] / density[i] ** 2 + pressure[j] / density[j] ** 2) * slope
    unit = np.where(r > 0, factor / np.where(r > 0, r, 1), 0)
    acceleration = np.stack([-np.bincount(i, unit * d[:, k], particles) for k in range(3)], axis=1)
    return {"density": density.astype(np.float32), "acceleration": acceleration.astype(np.float32)}
