import numpy as np


TOLERANCE = {"depth": (0, 0), "index": (0, 0)}


def make_inputs(rng, n, height, width, values="room"):
    z = rng.integers(-2000, 20000, n)  # a tenth lies behind the camera
    x, y = (rng.integers(-12000, 12001, n) for _ in range(2))
    if values == "ties":  # few rays and few depths: many points share a pixel, and some a depth as well
        z = 1000 * rng.integers(-1, 4, n)
        x, y = (z * rng.integers(-30, 31, n) // 60 for _ in range(2))
    camera = np.array([width, -height, width // 2, height // 2 + 1], dtype=np.int32)
    return {
        "sizes": np.array([n, height, width], dtype=np.int32),
        "points": np.stack([x, y, z], axis=1).astype(np.int32),
        "camera": camera,
    }


def reference(inputs):
    n, height, width = map(int, inputs["sizes"])
    x, y, z = inputs["points"].astype(np.int64).T
    fx, fy, cx, cy = map(int, inputs["camera"])
    safe = np.maximum(z, 1)
    u, v = fx * x // safe + cx, fy * y // safe + cy
    seen = (z > 0) & (u >= 0) & (u < width) & (v >= 0) & (v < height)
    key = np.full(height * width, 2**62, dtype=np.int64)
    np.minimum.at(key, (v * width + u)[seen], (z * 2**32 + np.arange(n))[seen])
    hit = key < 2**62
    depth = np.where(hit, key >> 32, 0).astype(np.int32).reshape(height, width)
    index = np.where(hit, key & 0xFFFFFFFF, -1).astype(np.int32).reshape(height, width)
    return {"depth": depth, "index": index}
