import numpy as np


TOLERANCE = {"cloud": (1e-5, 1e-6), "valid": (0, 0)}


def make_inputs(rng, height, width, values="room"):
    depth = rng.integers(400, 6000, (height, width))
    depth[rng.random((height, width)) < 0.15] = 0
    if values == "gaps":  # whole rows without a reading, and the largest depth
        depth[rng.random((height, width)) < 0.5] = 65535
        depth[::3] = 0
    focal = rng.uniform(0.8, 1.2, 2) * width
    center = (width * 0.48 + 0.25, height * 0.53 + 0.125)
    return {
        "sizes": np.array([height, width], dtype=np.int32),
        "depth": depth.astype(np.uint16),
        "intrinsics": np.array([*focal, *center], dtype=np.float32),
    }


def reference(inputs):
    depth = inputs["depth"]
    fx, fy, cx, cy = inputs["intrinsics"].astype(np.float64)
    z = depth.astype(np.float64) * 0.001
    v, u = np.indices(depth.shape)
    cloud = np.stack([(u - cx) * z / fx, (v - cy) * z / fy, z], axis=2)
    return {"cloud": cloud.astype(np.float32), "valid": np.count_nonzero(depth, axis=1).astype(np.int32)}
