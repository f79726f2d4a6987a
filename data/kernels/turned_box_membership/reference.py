import numpy as np


TOLERANCE = {"owner": (0, 0), "inside": (0, 0)}


def make_inputs(rng, n, boxes, values="street"):
    box = np.empty((boxes, 8), dtype=np.int64)
    box[:, :2] = rng.integers(-60000, 60001, (boxes, 2))
    box[:, 2] = rng.integers(-500, 2000, boxes)
    angle = rng.uniform(0.0, 2.0 * np.pi, boxes)
    box[:, 3], box[:, 4] = np.rint(1000.0 * np.cos(angle)), np.rint(1000.0 * np.sin(angle))
    box[:, 5:7] = rng.integers(500_000, 8_000_000, (boxes, 2))  # half sides of 0.5 to 8 m, times 1000
    box[:, 7] = rng.integers(300, 2000, boxes)
    center = box[rng.integers(0, boxes, n), :3]
    points = center + np.rint(rng.normal(0.0, (3000.0, 3000.0, 800.0), (n, 3))).astype(np.int64)
    if values == "faces":  # straight unit axes and small numbers: points on faces, edges and corners
        box[:] = rng.integers(0, 6, (boxes, 8))
        box[:, 3:5] = [1, 0]
        points = rng.integers(-5, 11, (n, 3))
    sizes = np.array([n, boxes], dtype=np.int32)
    return {"sizes": sizes, "points": points.astype(np.int32), "box": box.astype(np.int32)}


def reference(inputs):
    x, y, z = inputs["points"].astype(np.int64).T
    owner = np.full(len(x), -1, dtype=np.int32)
    inside = np.empty(len(inputs["box"]), dtype=np.int32)
    for b, (cx, cy, cz, ax, ay, along, across, up) in enumerate(inputs["box"].astype(np.int64)):
        dx, dy = x - cx, y - cy
        hit = (np.abs(dx * ax + dy * ay) <= along) & (np.abs(dy * ax - dx * ay) <= across) & (np.abs(z - cz) <= up)
        owner[hit & (owner < 0)] = b
        inside[b] = np.count_nonzero(hit)
    return {"owner": owner, "inside": inside}
