import numpy as np


TOLERANCE = {"field": (1e-4, 5e-3)}


def make_inputs(rng, height, width, vertices, values="star"):
    angle = np.linspace(0.0, 2.0 * np.pi, vertices, endpoint=False)
    radius = rng.uniform(0.2, 0.55, vertices)
    polygon = 0.5 + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    polygon *= [width, height]
    if values == "comb":  # long thin teeth with vertical and horizontal edges, some of them on pixel centres
        polygon = np.stack([np.repeat(np.arange(vertices // 2) * 6.5 + 2.5, 2), np.full(vertices, 10.5)], axis=1)
        polygon[1::4, 1] = polygon[2::4, 1] = 70.5
        polygon[-1, 1] = 80.25
    return {
        "sizes": np.array([height, width, vertices], dtype=np.int32),
        "polygon": (np.round(polygon * 4.0) / 4.0).astype(np.float32),
    }


def reference(inputs):
    height, width, _ = inputs["sizes"]
    x = np.arange(width) + 0.5
    y = (np.arange(height) + 0.5)[:, None]
    polygon = inputs["polygon"].astype(np.float64)
    nearest = np.full((height, width), np.inf)
    inside = np.zeros((height, width), dtype=bool)
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        e = b - a
        squared = e @ e
        along = ((x - a[0]) * e[0] + (y - a[1]) * e[1]) / squared if squared > 0 else np.zeros((height, width))
        along = np.clip(along, 0.0, 1.0)
        nearest = np.minimum(nearest, (x - a[0] - along * e[0]) ** 2 + (y - a[1] - along * e[1]) ** 2)
        if a[1] != b[1]:
            inside ^= ((a[1] > y) != (b[1] > y)) & (x < a[0] + (y - a[1]) / e[1] * e[0])
    distance = np.sqrt(nearest)
    return {"field": np.where(inside, -distance, distance).astype(np.float32)}
