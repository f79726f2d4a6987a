import numpy as np


TOLERANCE = {"factors": (1e-5, 1e-4), "energy": (1e-4, 1e-4)}


def make_inputs(rng, particles, waves, values="melt"):
    place = rng.random((particles, 3))
    charge = rng.choice([-1.0, 1.0, 0.5], particles)
    if values == "crystal":
        place = np.floor(place * 4.0) / 4.0
    waves_in = rng.integers(-12, 13, (waves, 3))
    waves_in[(waves_in == 0).all(axis=1)] = [1, 0, 0]
    return {
        "sizes": np.array([particles, waves], dtype=np.int32),
        "particles_in": np.concatenate([place, charge[:, None]], axis=1).astype(np.float32),
        "waves_in": waves_in.astype(np.int32),
    }


def reference(inputs):
    place = inputs["particles_in"][:, :3].astype(np.float64)
    charge = inputs["particles_in"][:, 3].astype(np.float64)
    waves = inputs["waves_in"].astype(np.float64)
    factors = np.empty((len(waves), 2))
    for begin in range(0, len(waves), 256):
        phase = 2.0 * np.pi * (waves[begin : begin + 256] @ place.T)
        factors[begin : begin + 256] = np.stack([np.cos(phase) @ charge, np.sin(phase) @ charge], axis=1)
    square = (waves**2).sum(axis=1)
    energy = (np.exp(-0.05 * square) / square * (factors**2).sum(axis=1)).sum()
    return {"factors": factors, "energy": np.array([energy])}
