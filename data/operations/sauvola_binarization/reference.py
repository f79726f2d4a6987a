import numpy as np


# Flags, exact: make_inputs redraws pixels nearer than 1e-3 to their threshold.
TOLERANCE = {"ink": (0, 0)}


def threshold(page, r):
    a = page.astype(np.int64)
    h, w = a.shape

    def window(v):
        c = np.pad(np.cumsum(np.cumsum(np.pad(v, r), 0), 1), ((1, 0), (1, 0)))
        k = 2 * r + 1
        return c[k:, k:] - c[:-k, k:] - c[k:, :-k] + c[:-k, :-k]

    n = window(np.ones((h, w), np.int64)).astype(np.float64)
    m = window(a) / n
    s = np.sqrt(np.maximum(window(a * a) / n - m * m, 0.0))
    return m * (1.0 + 0.2 * (s / 128.0 - 1.0))


def make_inputs(rng, height, width, radius):
    make_inputs.radius = radius
    y, x = np.indices((height, width))
    paper = 190.0 + 40.0 * np.sin(0.01 * x + 0.02 * y)
    stroke = ((x + 2 * y) % 17 < 4) | (rng.random((height, width)) < 0.1)
    page = np.clip(np.round(paper - 90.0 * stroke + rng.normal(0.0, 15.0, (height, width))), 0, 255).astype(np.uint8)
    for _ in range(20):
        near = np.abs(page - threshold(page, radius)) < 1e-3
        if not near.any():
            break
        page[near] ^= 3
    return {"page": page}


def reference(inputs):
    page = inputs["page"]
    return {"ink": (page <= threshold(page, make_inputs.radius)).astype(np.uint8)}
