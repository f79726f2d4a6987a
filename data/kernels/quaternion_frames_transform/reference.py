import numpy as np


TOLERANCE = {"world": (1e-4, 1e-4)}


def make_inputs(rng, frames, points, values="random"):
    quaternions = rng.normal(size=(frames, 4))
    if values == "half turns":  # scalar part 0, and an identity with the other sign
        quaternions[:, 0] = 0.0
        quaternions[0] = (-3.0, 0.0, 0.0, 0.0)
    lengths = np.linalg.norm(quaternions, axis=1, keepdims=True)
    # not of unit length: 0.5 to 2
    quaternions *= rng.uniform(0.5, 2.0, (frames, 1)) / lengths
    poses = np.concatenate([quaternions, rng.normal(0.0, 5.0, (frames, 3))], axis=1)
    return {
        "sizes": np.array([frames, points], dtype=np.int32),
        "cloud": rng.normal(0.0, 4.0, (frames, points, 3)).astype(np.float32),
        "poses": poses.astype(np.float32),
    }


def reference(inputs):
    poses = inputs["poses"].astype(np.float64)
    w, x, y, z = (poses[:, :4] / np.linalg.norm(poses[:, :4], axis=1, keepdims=True)).T
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 1, 0)
    world = np.matmul(inputs["cloud"].astype(np.float64), rotation) + poses[:, None, 4:]
    return {"world": world.astype(np.float32)}
