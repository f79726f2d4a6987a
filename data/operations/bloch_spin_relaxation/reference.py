import numpy as np


# Up to 30 rotations and decays in float32; phases w t stay below 10, so their rounding is about 5e-7.
TOLERANCE = {"magnetization": (1e-4, 3e-5), "strongest": (1e-4, 2e-5)}


def make_inputs(rng, voxels, pulses):
    tissue = np.stack(
        [rng.uniform(0.5, 4, voxels), rng.uniform(4, 25, voxels), rng.uniform(-100, 100, voxels)], axis=1
    )
    pulse = np.stack([rng.uniform(0.2, 3.1, pulses), rng.uniform(0.005, 0.08, pulses)], axis=1)
    return {"tissue": tissue.astype(np.float32), "pulse": pulse.astype(np.float32)}


def reference(inputs):
    r1, r2, w = inputs["tissue"].astype(np.float64).T
    x, y, z = np.zeros_like(r1), np.zeros_like(r1), np.ones_like(r1)
    strongest = np.zeros_like(r1)
    for number, (a, t) in enumerate(inputs["pulse"].astype(np.float64)):
        y, z = y * np.cos(a) - z * np.sin(a), y * np.sin(a) + z * np.cos(a)
        if number > 0:
            strongest = np.maximum(strongest, np.sqrt(x * x + y * y))
        c, s, d = np.cos(w * t), np.sin(w * t), np.exp(-r2 * t)
        x, y = d * (x * c - y * s), d * (x * s + y * c)
        z = 1 + (z - 1) * np.exp(-r1 * t)
    return {"magnetization": np.stack([x, y, z], axis=1).astype(np.float32), "strongest": strongest.astype(np.float32)}
