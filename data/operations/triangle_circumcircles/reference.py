import numpy as np


# Differences of coordinates below 10 are rounded to 1e-6; the smallest sine of an angle is about 0.2, radii stay below 30.
TOLERANCE = {"circle": (1e-4, 1e-4), "obtuse": (0, 0)}


def make_inputs(rng, n):
    # Corners on a circle of a random centre at angles that keep a distance from each other; no angle near 90 degrees.
    turn = rng.uniform(0, 2 * np.pi, n)
    parts = rng.uniform(0.4, 1.0, (n, 3))
    wide = rng.random(n) < 0.5
    parts[wide, 2] = parts[wide, :2].sum(axis=1) * rng.uniform(1.1, 3.0, wide.sum())
    parts[~wide, 2] = parts[~wide, :2].sum(axis=1) * rng.uniform(0.5, 0.9, (~wide).sum())
    steps = 2 * np.pi * parts / parts.sum(axis=1, keepdims=True)
    angle = turn[:, None] + np.cumsum(steps, axis=1) * rng.choice([-1, 1], (n, 1))
    radius = np.exp(rng.uniform(-1, 2, n))
    corner = np.stack([np.cos(angle), np.sin(angle)], axis=2) * radius[:, None, None]
    corner += rng.uniform(-3, 3, (n, 1, 2))
    shift = rng.integers(0, 3, n)[:, None]
    order = (np.arange(3) + shift) % 3
    return {"triangles": np.take_along_axis(corner, order[..., None], axis=1).astype(np.float32)}


def reference(inputs):
    t = inputs["triangles"].astype(np.float64)
    b, c = t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]
    d = 2 * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0])
    bb, cc = (b * b).sum(axis=1), (c * c).sum(axis=1)
    u = np.stack([(c[:, 1] * bb - b[:, 1] * cc) / d, (b[:, 0] * cc - c[:, 0] * bb) / d], axis=1)
    aa = ((b - c) ** 2).sum(axis=1)
    longest = np.maximum(aa, np.maximum(bb, cc))
    circle = np.concatenate([t[:, 0] + u, np.hypot(u[:, 0], u[:, 1])[:, None]], axis=1)
    return {"circle": circle.astype(np.float32), "obtuse": (2 * longest > aa + bb + cc).astype(np.uint8)}
