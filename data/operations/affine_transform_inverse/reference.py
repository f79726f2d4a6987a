import numpy as np


# Well conditioned 3x3 inverses in float32 and a product with translations below 10 in size.
TOLERANCE = {"back": (1e-4, 5e-5)}


def make_inputs(rng, count):
    linear = rng.uniform(-0.7, 0.7, (count, 3, 3))
    linear[:, [0, 1, 2], [1, 2, 0]] = rng.uniform(1.8, 3.0, (count, 3)) * rng.choice([-1.0, 1.0], (count, 3))
    shift = rng.uniform(-10.0, 10.0, (count, 3, 1))
    return {"maps": np.concatenate([linear, shift], axis=2).astype(np.float32)}


def reference(inputs):
    maps = inputs["maps"].astype(np.float64)
    inverse = np.linalg.inv(maps[:, :, :3])
    return {"back": np.concatenate([inverse, -np.matmul(inverse, maps[:, :, 3:])], axis=2).astype(np.float32)}
