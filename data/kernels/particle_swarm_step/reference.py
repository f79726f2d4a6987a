import numpy as np


TOLERANCE = {
    "new_position": (1e-9, 1e-9),
    "new_velocity": (1e-9, 1e-9),
    "new_best_value": (1e-9, 1e-9),
    "winner": (0, 0),
}


def rastrigin(x):
    return 10.0 * x.shape[1] + (x**2 - 10.0 * np.cos(2 * np.pi * x)).sum(axis=1)


def make_inputs(rng, particles, dims, pattern="flying"):
    position, best_position = rng.uniform(-5.0, 5.0, (2, particles, dims))
    velocity = rng.normal(0.0, 2.0, (particles, dims))
    best_value = rastrigin(best_position)
    best_value[0] += 50.0
    if pattern == "settled":  # nobody improves, and several share the best value
        best_value[:] = 0.5
        best_value[[40, 41, 250]] = 0.25
    return {
        "sizes": np.array([particles, dims], dtype=np.int32),
        "position": position,
        "velocity": velocity,
        "best_position": best_position,
        "best_value": best_value,
        "draws": rng.random((particles, 2)),
        "leader": rng.normal(0.0, 0.5, dims),
    }


def reference(inputs):
    x = inputs["position"]
    r1, r2 = inputs["draws"][:, :1], inputs["draws"][:, 1:]
    velocity = 0.7 * inputs["velocity"] + 1.5 * r1 * (inputs["best_position"] - x) + 1.5 * r2 * (inputs["leader"] - x)
    moved = np.clip(x + velocity, -5.12, 5.12)
    best = np.minimum(inputs["best_value"], rastrigin(moved))
    return {
        "new_position": moved,
        "new_velocity": velocity,
        "new_best_value": best,
        "winner": np.array([best.argmin()], dtype=np.int32),
    }
