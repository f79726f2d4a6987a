import numpy as np


# Coordinates are multiples of 1/64, so the fractions are exact; four products of float32 values near 4 remain.
TOLERANCE = {"remapped": (1e-5, 1e-5)}


def make_inputs(rng, src_h, src_w, height, width):
    y, x = np.indices((height, width))
    mx = x * (src_w / width) + 6.0 * np.sin(0.05 * y) + rng.uniform(-3.0, 3.0, (height, width))
    my = y * (src_h / height) + 6.0 * np.cos(0.04 * x) + rng.uniform(-3.0, 3.0, (height, width))
    return {
        "source": rng.normal(1.0, 3.0, (src_h, src_w)).astype(np.float32),
        "map_x": (np.round(mx * 64) / 64).astype(np.float32),
        "map_y": (np.round(my * 64) / 64).astype(np.float32),
    }


def reference(inputs):
    s = inputs["source"].astype(np.float64)
    h, w = s.shape
    mx, my = inputs["map_x"].astype(np.float64), inputs["map_y"].astype(np.float64)
    x0, y0 = np.floor(mx).astype(np.int64), np.floor(my).astype(np.int64)
    fx, fy = mx - x0, my - y0

    def at(y, x):
        inside = (y >= 0) & (x >= 0) & (y < h) & (x < w)
        return np.where(inside, s[np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)], -1.0)

    top = at(y0, x0) * (1 - fx) + at(y0, x0 + 1) * fx
    low = at(y0 + 1, x0) * (1 - fx) + at(y0 + 1, x0 + 1) * fx
    return {"remapped": (top * (1 - fy) + low * fy).astype(np.float32)}
