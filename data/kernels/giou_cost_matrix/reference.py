import numpy as np


TOLERANCE = {"cost": (1e-4, 1e-4)}


def draw_boxes(rng, count):
    # Corners on a grid of 1/16, so that areas are exact in float32.
    corner = rng.integers(0, 400, (count, 2)) / 16
    return np.concatenate([corner, corner + rng.integers(1, 160, (count, 2)) / 16], axis=1)


def make_inputs(rng, predictions, targets, pattern="random"):
    predicted, target = draw_boxes(rng, predictions), draw_boxes(rng, targets)
    if pattern == "degenerate":  # points, lines, equal boxes
        predicted[::3, 2:] = predicted[::3, :2]
        target[::4, 2] = target[::4, 0]
        target[::6] = predicted[0]
        predicted[1] = target[1]
    return {
        "sizes": np.array([predictions, targets], dtype=np.int32),
        "predicted": predicted.astype(np.float32),
        "target": target.astype(np.float32),
    }


def quotient(a, b):
    return np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0)


def reference(inputs):
    p = inputs["predicted"].astype(np.float64)[:, None]
    t = inputs["target"].astype(np.float64)[None]
    sides = np.minimum(p[..., 2:], t[..., 2:]) - np.maximum(p[..., :2], t[..., :2])
    overlap = np.maximum(sides, 0.0).prod(axis=2)
    whole = (p[..., 2:] - p[..., :2]).prod(axis=2) + (t[..., 2:] - t[..., :2]).prod(axis=2) - overlap
    hull = (np.maximum(p[..., 2:], t[..., 2:]) - np.minimum(p[..., :2], t[..., :2])).prod(axis=2)
    return {"cost": (1 - quotient(overlap, whole) + quotient(hull - whole, hull)).astype(np.float32)}
