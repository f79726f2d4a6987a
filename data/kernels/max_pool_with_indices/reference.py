import numpy as np


TOLERANCE = {"pooled": (0, 0), "indices": (0, 0)}


def make_inputs(rng, planes, height, width, values="normal"):
    activations = rng.normal(-0.5, 1.0, (planes, height, width))
    activations = np.round(activations * 8.0) / 8.0  # some ties; the division makes negative zeros too
    if values == "ties":  # few values, plane 0 all equal and negative
        activations = rng.integers(-2, 1, activations.shape) * 1.5
        activations[0] = -7.0
        activations[rng.random(activations.shape) < 0.1] = -0.0
    return {
        "sizes": np.array([planes, height, width], dtype=np.int32),
        "activations": activations.astype(np.float32),
    }


def reference(inputs):
    activations = inputs["activations"]
    planes, height, width = activations.shape
    rows, columns = (height + 1) // 2, (width + 1) // 2
    padded = np.full((planes, 2 * rows + 1, 2 * columns + 1), -np.inf, dtype=np.float32)
    padded[:, 1 : height + 1, 1 : width + 1] = activations
    windows = np.stack([padded[:, i : i + 2 * rows : 2, j : j + 2 * columns : 2] for i in range(3) for j in range(3)])
    best = np.argmax(windows, axis=0)  # the first of equals, which has the smallest position
    y = 2 * np.arange(rows)[:, None] - 1 + best // 3
    x = 2 * np.arange(columns) - 1 + best % 3
    return {
        "pooled": np.take_along_axis(windows, best[None], axis=0)[0],
        "indices": (y * width + x).astype(np.int32),
    }
