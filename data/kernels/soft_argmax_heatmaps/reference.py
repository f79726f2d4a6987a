import numpy as np


TOLERANCE = {"centres": (1e-4, 1e-3), "confidence": (1e-4, 1e-6)}


def make_inputs(rng, maps, height, width, values="normal"):
    # A blob somewhere in each map, over noise and a shift that takes exp out of range.
    y, x = np.arange(height)[:, None], np.arange(width)
    row, col = rng.uniform(0, height, (maps, 1, 1)), rng.uniform(0, width, (maps, 1, 1))
    blob = np.exp(-(np.square(y - row) + np.square(x - col)) / (2.0 * rng.uniform(1.0, 3.0, (maps, 1, 1)) ** 2))
    heatmaps = 12.0 * blob + rng.normal(0.0, 0.5, (maps, height, width)) + rng.uniform(-150, 150, (maps, 1, 1))
    if values == "extremes":  # flat maps, a single pixel far above the rest, and two equal peaks
        heatmaps[::4] = -1.0e30
        heatmaps[1::4, height // 2, width // 4] = 1.0e30
        heatmaps[2::4] = -400.0
        heatmaps[2::4, 0, [0, width - 1]] = 0.0
    return {
        "sizes": np.array([maps, height, width], dtype=np.int32),
        "heatmaps": heatmaps.astype(np.float32),
    }


def reference(inputs):
    heatmaps = inputs["heatmaps"].astype(np.float64)
    _, height, width = heatmaps.shape
    weights = np.exp(heatmaps - heatmaps.max(axis=(1, 2), keepdims=True))
    total = weights.sum(axis=(1, 2))
    col = weights.sum(axis=1) @ np.arange(width) / total
    row = weights.sum(axis=2) @ np.arange(height) / total
    centres = np.stack([col, row], axis=1)
    return {"centres": centres.astype(np.float32), "confidence": (1.0 / total).astype(np.float32)}
