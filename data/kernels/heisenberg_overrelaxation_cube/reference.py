import numpy as np


TOLERANCE = {"spins_out": (1e-3, 1e-3), "energy": (1e-4, 1e-3)}


def make_inputs(rng, half, sweeps, values="tilted"):
    spins = np.array([0.9, -0.9, 0.9]) + rng.normal(0.0, 0.6, (2 * half, 2 * half, 2 * half, 3))  # no field is near 0
    if values == "aligned":
        spins = np.array([0.0, 0.0, 1.0]) + 0.1 * spins
    spins /= np.linalg.norm(spins, axis=3, keepdims=True)
    extra = rng.random((*spins.shape[:3], 1))
    return {
        "sizes": np.array([half, sweeps], dtype=np.int32),
        "spins": np.concatenate([spins, extra], axis=3).astype(np.float32),
    }


def field(spins):
    return sum(np.roll(spins, shift, axis) for axis in range(3) for shift in (1, -1))


def reference(inputs):
    spins = inputs["spins"][..., :3].astype(np.float64)
    even = np.indices(spins.shape[:3]).sum(axis=0) % 2 == 0
    for _ in range(inputs["sizes"][1]):
        for colour in (even, ~even):
            h = field(spins)
            square = (h**2).sum(axis=3)
            safe = np.where(square > 1e-6, square, 1.0)
            reflected = 2.0 * ((spins * h).sum(axis=3) / safe)[..., None] * h - spins
            change = colour & (square > 1e-6)
            spins = np.where(change[..., None], reflected, spins)
    energy = -0.5 * (spins * field(spins)).sum()
    out = np.concatenate([spins, inputs["spins"][..., 3:].astype(np.float64)], axis=3)
    return {"spins_out": out.astype(np.float32), "energy": np.array([energy])}
