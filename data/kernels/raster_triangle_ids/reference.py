import numpy as np


TOLERANCE = {"ids": (0, 0), "covered": (0, 0)}


def make_inputs(rng, height, width, triangles, values="random"):
    centre = rng.uniform(-0.1, 1.1, (triangles, 1, 2)) * [width, height]
    corners = 16.0 * (centre + rng.normal(0.0, 0.05 * max(height, width) + 1.0, (triangles, 3, 2)))
    if values == "mesh":  # two triangles a square on half-pixel corners: shared edges pass through pixel centres
        cell = np.arange(triangles) // 2
        x, y = 8.0 + 80.0 * (cell % 20), 8.0 + 80.0 * (cell // 20)
        left = np.stack([x, y, x + 80, y, x, y + 80], axis=1)
        right = np.stack([x + 80, y, x, y + 80, x + 80, y + 80], axis=1)
        corners = np.where((np.arange(triangles) % 2 == 0)[:, None], left, right).reshape(-1, 3, 2)
        corners[::7] = corners[::7, ::-1]  # the other orientation
        corners[5] = corners[5, :1]  # a triangle of one point covers nothing
    return {
        "sizes": np.array([height, width, triangles], dtype=np.int32),
        "corners": np.round(corners).astype(np.int32),
    }


def reference(inputs):
    height, width, _ = inputs["sizes"]
    ids = np.full((height, width), -1, dtype=np.int32)
    covered = []
    for number, (a, b, c) in enumerate(inputs["corners"].astype(np.int64)):
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area < 0:
            b, c = c, b
        low = np.maximum((np.minimum(np.minimum(a, b), c) - 8) // 16, 0)
        high = np.minimum((np.maximum(np.maximum(a, b), c) - 8) // 16 + 1, [width - 1, height - 1])
        if area == 0 or (low > high).any():
            covered.append(0)
            continue
        x = 16 * np.arange(low[0], high[0] + 1) + 8
        y = (16 * np.arange(low[1], high[1] + 1) + 8)[:, None]
        hit = np.ones((y.size, x.size), dtype=bool)
        for p, q in ((a, b), (b, c), (c, a)):
            dx, dy = q - p
            top_left = dy < 0 or (dy == 0 and dx > 0)
            hit &= dx * (y - p[1]) - dy * (x - p[0]) >= (0 if top_left else 1)
        ids[low[1] : high[1] + 1, low[0] : high[0] + 1][hit] = number
        covered.append(hit.sum())
    return {"ids": ids, "covered": np.array(covered, dtype=np.int32)}
