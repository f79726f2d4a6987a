import numpy as np


TOLERANCE = {"density": (0, 0)}


def make_inputs(rng, particles, height, width, values="even"):
    limits = np.array([height * 256, width * 256])
    positions = rng.integers(0, limits, (particles, 2))
    if values == "clumped":  # a thousand particles in one cell, others exactly on grid points
        positions[:1000] = limits - 1 - rng.integers(0, 255, (1000, 2)) % limits
        positions[1000::2] &= ~255
    return {
        "sizes": np.array([particles, height, width], dtype=np.int32),
        "positions": positions.astype(np.uint32),
        "charges": rng.integers(-(2**20), 2**20, particles, dtype=np.int32),
    }


def reference(inputs):
    _, height, width = inputs["sizes"]
    cell, part = np.divmod(inputs["positions"].astype(np.int64), 256)
    density = np.zeros(height * width, dtype=np.int64)
    for dy in (0, 1):
        for dx in (0, 1):
            weight = np.where(dy, part[:, 0], 256 - part[:, 0]) * np.where(dx, part[:, 1], 256 - part[:, 1])
            at = (cell[:, 0] + dy) % height * width + (cell[:, 1] + dx) % width
            np.add.at(density, at, weight * inputs["charges"])
    return {"density": density.reshape(height, width)}
