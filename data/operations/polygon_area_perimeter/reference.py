import numpy as np


# Sums of up to 1500 float32 terms; coordinates have an offset up to 5, so the area loses about 1e-5 to cancellation.
TOLERANCE = {"area": (2e-4, 5e-3), "perimeter": (1e-4, 1e-4)}


def make_inputs(rng, polygons, sides):
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, (polygons, sides)), axis=1)
    radius = rng.uniform(1.0, 6.0, (polygons, 1)) * rng.uniform(0.8, 1.2, (polygons, sides))
    angle *= rng.choice([-1.0, 1.0], (polygons, 1))
    center = rng.uniform(-5.0, 5.0, (polygons, 1, 2))
    xy = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2)
    return {"corners": (xy + center).astype(np.float32)}


def reference(inputs):
    p = inputs["corners"].astype(np.float64)
    q = np.roll(p, -1, axis=1)
    area = 0.5 * (p[..., 0] * q[..., 1] - q[..., 0] * p[..., 1]).sum(axis=1)
    perimeter = np.hypot(q[..., 0] - p[..., 0], q[..., 1] - p[..., 1]).sum(axis=1)
    return {"area": area.astype(np.float32), "perimeter": perimeter.astype(np.float32)}
