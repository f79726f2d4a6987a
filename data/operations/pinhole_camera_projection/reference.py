import numpy as np


# u and v take about 25 roundings and may reach several thousand pixels: relative 1e-4 with some cancellation near 0.
TOLERANCE = {"pixels": (2e-4, 2e-2), "visible": (0, 0)}


def project(points, camera, pose):
    p, m = points.astype(np.float64), pose.astype(np.float64)
    fx, fy, cx, cy, k1, k2 = camera.astype(np.float64)
    q = p @ m[:, :3].T + m[:, 3]
    z = np.where(q[:, 2] > 0.1, q[:, 2], 1.0)
    x, y = q[:, 0] / z, q[:, 1] / z
    r2 = x * x + y * y
    g = 1.0 + k1 * r2 + k2 * r2 * r2
    return q[:, 2], fx * x * g + cx, fy * y * g + cy


def make_inputs(rng, n):
    rot, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    if np.linalg.det(rot) < 0:
        rot[:, 0] *= -1.0
    pose = np.concatenate([rot, rng.uniform(-0.5, 0.5, (3, 1))], axis=1).astype(np.float32)
    camera = np.array([500.0, 510.0, 322.5, 238.0, -0.08, 0.015]) * rng.uniform(0.98, 1.02, 6)
    camera = camera.astype(np.float32)
    m = n + n // 3 + 500
    z = np.where(rng.random(m) < 0.8, rng.uniform(1.0, 9.0, m), rng.uniform(-5.0, 0.0, m))
    q = np.stack([rng.uniform(-1.0, 1.0, m) * z, rng.uniform(-0.8, 0.8, m) * z, z], axis=1)
    points = ((q - pose[:, 3]) @ rot).astype(np.float32)
    depth, u, v = project(points, camera, pose)
    edge = np.minimum(np.minimum(np.abs(u), np.abs(u - 640)), np.minimum(np.abs(v), np.abs(v - 480)))
    good = (np.abs(depth - 0.1) > 0.01) & ((depth < 0.1) | (edge > 0.05))
    return {"points": points[np.flatnonzero(good)[:n]], "camera": camera, "pose": pose}


def reference(inputs):
    z, u, v = project(inputs["points"], inputs["camera"], inputs["pose"])
    front = z > 0.1
    pixels = np.where(front[:, None], np.stack([u, v], axis=1), -1.0)
    seen = front & (u >= 0) & (u < 640) & (v >= 0) & (v < 480)
    return {"pixels": pixels.astype(np.float32), "visible": seen.astype(np.uint8)}
