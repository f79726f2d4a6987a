import numpy as np


# hits is exact, since grazing rays are not drawn; entry is a difference and a quotient in float32.
TOLERANCE = {"hits": (0, 0), "entry": (1e-4, 1e-4)}


def slabs(rays, box):
    a = (box[:3] - rays[:, :3]) / rays[:, 3:]
    b = (box[3:] - rays[:, :3]) / rays[:, 3:]
    return np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)


def make_inputs(rng, n, m):
    lo = rng.uniform(-10.0, 9.0, (m, 3))
    boxes = np.concatenate([lo, lo + rng.uniform(0.5, 4.0, (m, 3))], axis=1).astype(np.float32)
    size = n + n // 4 + 200
    d = rng.uniform(0.2, 1.0, (size, 3)) * rng.choice([-1.0, 1.0], (size, 3))
    rays = np.concatenate([rng.uniform(-12.0, 12.0, (size, 3)), d], axis=1).astype(np.float32)
    good = np.ones(size, bool)
    for box in boxes.astype(np.float64):
        near, far = slabs(rays.astype(np.float64), box)
        good &= (np.abs(far - near) > 5e-4) & (np.abs(far) > 5e-4)
    return {"rays": rays[np.flatnonzero(good)[:n]], "boxes": boxes}


def reference(inputs):
    rays = inputs["rays"].astype(np.float64)
    hits = np.zeros(len(rays), np.int32)
    entry = np.full(len(rays), np.inf)
    for box in inputs["boxes"].astype(np.float64):
        near, far = slabs(rays, box)
        hit = (near <= far) & (far >= 0)
        hits += hit
        entry = np.where(hit, np.minimum(entry, np.maximum(near, 0.0)), entry)
    return {"hits": hits, "entry": np.where(hits > 0, entry, -1.0).astype(np.float32)}
