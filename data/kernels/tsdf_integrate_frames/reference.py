import numpy as np


TOLERANCE = {"new_distance": (0, 0), "new_weight": (0, 0)}


def make_inputs(rng, nx, ny, nz, frames, height, width, pattern="front"):
    step, trunc, cap = 20, 90, 40
    focal = int(0.8 * width) + 1
    near = 600
    origins = np.stack(
        [
            -step * nx // 2 + rng.integers(-60, 61, frames),
            -step * ny // 2 + rng.integers(-60, 61, frames),
            near + rng.integers(-60, 61, frames),
        ],
        axis=1,
    )
    if pattern == "inside":  # the camera stands within the volume; full weights; the largest truncation
        origins[:, 2] = -step * nz // 2
        trunc, cap = 2047, 255
    rows, columns = np.arange(height)[:, None], np.arange(width)
    wave = np.sin(rows / height * 7) + np.cos(columns / width * 5)
    depth = near + 0.4 * step * nz * (1 + 0.3 * wave) + rng.integers(-30, 31, (frames, height, width))
    depth[rng.random(depth.shape) < 0.1] = 0
    if pattern == "inside":
        depth = np.where(rng.random(depth.shape) < 0.5, depth / 3, 65535)
    weight = rng.integers(0, cap + 1, (nz, ny, nx))
    weight[rng.random(weight.shape) < 0.2] = 0
    return {
        "sizes": np.array([nx, ny, nz, frames, height, width], dtype=np.int32),
        "camera": np.array([focal, focal + 3, width // 2, height // 2, step, trunc, cap], dtype=np.int32),
        "origins": origins.astype(np.int32),
        "depth": depth.astype(np.uint16),
        "distance": rng.integers(-16 * trunc, 16 * trunc + 1, (nz, ny, nx)).astype(np.int16),
        "weight": weight.astype(np.uint8),
    }


def reference(inputs):
    fx, fy, cx, cy, step, trunc, cap = inputs["camera"].tolist()
    distance, weight = inputs["distance"].astype(np.int64), inputs["weight"].astype(np.int64)
    nz, ny, nx = distance.shape
    height, width = inputs["depth"].shape[1:]
    for (ox, oy, oz), image in zip(inputs["origins"].tolist(), inputs["depth"].astype(np.int64), strict=True):
        for k in range(nz):
            z = oz + step * k
            if z <= 0:
                continue
            u = (2 * fx * (ox + step * np.arange(nx)) + z) // (2 * z) + cx
            v = (2 * fy * (oy + step * np.arange(ny)) + z) // (2 * z) + cy
            i, j = np.flatnonzero((v >= 0) & (v < height)), np.flatnonzero((u >= 0) & (u < width))
            if not i.size or not j.size:
                continue
            seen = image[np.ix_(v[i], u[j])]
            signed = np.minimum(seen - z, trunc)
            use = (seen > 0) & (signed >= -trunc)
            at = np.ix_([k], i, j)
            d, w = distance[at][0], weight[at][0]
            distance[at] = np.where(use, (d * w + 16 * signed) // (w + 1), d)
            weight[at] = np.where(use, np.minimum(w + 1, cap), w)
    return {"new_distance": distance.astype(np.int16), "new_weight": weight.astype(np.uint8)}
