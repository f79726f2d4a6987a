import numpy as np


# Maxima are selected: exact.
TOLERANCE = {"pooled": (0, 0)}


def make_inputs(rng, channels, height, width, regions):
    x = np.sort(rng.integers(0, width, (regions, 2)), 1)
    y = np.sort(rng.integers(0, height, (regions, 2)), 1)
    x[::9, 1] = x[::9, 0]
    b = np.stack([x[:, 0], y[:, 0], np.minimum(x[:, 1], x[:, 0] + 60), np.minimum(y[:, 1], y[:, 0] + 45)], 1)
    return {
        "features": rng.normal(0.0, 1.0, (channels, height, width)).astype(np.float32),
        "boxes": b.astype(np.int32),
    }


def reference(inputs):
    f, boxes = inputs["features"], inputs["boxes"].tolist()
    out = np.empty((len(boxes), f.shape[0], 5, 5), np.float32)
    for r, (x0, y0, x1, y1) in enumerate(boxes):
        w, h = x1 - x0 + 1, y1 - y0 + 1
        crop = f[:, y0 : y1 + 1, x0 : x1 + 1]
        rows = np.stack([crop[:, i * h // 5 : -(-(i + 1) * h // 5)].max(1) for i in range(5)], 1)
        out[r] = np.stack([rows[:, :, j * w // 5 : -(-(j + 1) * w // 5)].max(2) for j in range(5)], 2)
    return {"pooled": out}
