import numpy as np


TOLERANCE = {"bodies_out": (1e-3, 1e-4), "velocity_out": (1e-3, 1e-4)}


def make_inputs(rng, n, values="uniform"):
    bodies = rng.uniform(-1.0, 1.0, (n, 4))
    bodies[:, 3] = rng.uniform(0.2, 1.0, n) / 100.0
    if values == "coincident":  # pairs in one place, bodies without mass, and one heavy body far away
        bodies[1::4, :3] = bodies[0::4, :3]
        bodies[2::4, 3] = 0.0
        bodies[-1] = (900.0, 0.0, -900.0, 1.0e5)
    return {
        "sizes": np.array([n], dtype=np.int32),
        "bodies": bodies.astype(np.float32),
        "velocity": rng.normal(0.0, 0.5, (n, 3)).astype(np.float32),
    }


def reference(inputs):
    bodies = inputs["bodies"].astype(np.float64)
    velocity = inputs["velocity"].astype(np.float64)
    position, mass = bodies[:, :3], bodies[:, 3]
    for _ in range(4):
        d = [position[None, :, axis] - position[:, None, axis] for axis in range(3)]
        squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.0025
        factor = mass / (squared * np.sqrt(squared))
        velocity += 0.01 * np.stack([(component * factor).sum(axis=1) for component in d], axis=1)
        position += 0.01 * velocity  # a view: bodies moves with it
    return {"bodies_out": bodies.astype(np.float32), "velocity_out": velocity.astype(np.float32)}
