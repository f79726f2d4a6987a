import numpy as np


TOLERANCE = {"score": (1e-3, 1e-4)}


def make_inputs(rng, n, templates, length, values="spikes"):
    shapes = rng.normal(0.0, 1.0, (templates, length)).cumsum(axis=1)
    x = rng.normal(2.0, 1.0, n)
    for start in range(0, n - length, 3 * length):  # scaled copies, which score nearly 1 or -1
        x[start : start + length] += rng.normal(0.0, 3.0) * shapes[rng.integers(0, templates)]
    if values == "flat":  # windows without any variation score 0
        x[n // 3 : n // 3 + 2 * length] = 2.5
    return {
        "sizes": np.array([n, templates, length], dtype=np.int32),
        "x": x.astype(np.float32),
        "shapes": shapes.astype(np.float32),
    }


def reference(inputs):
    length = int(inputs["sizes"][2])
    windows = np.lib.stride_tricks.sliding_window_view(inputs["x"].astype(np.float64), length)
    shapes = inputs["shapes"].astype(np.float64)
    shapes = shapes - shapes.mean(axis=1, keepdims=True)
    shapes /= np.sqrt((shapes**2).sum(axis=1, keepdims=True))
    score = np.zeros((len(shapes), len(windows)))
    for begin in range(0, len(windows), 8192):
        part = windows[begin : begin + 8192]
        part = part - part.mean(axis=1, keepdims=True)
        energy = (part**2).sum(axis=1)
        inverse = np.where(energy > 1e-6, 1.0 / np.sqrt(np.maximum(energy, 1e-30)), 0.0)
        score[:, begin : begin + 8192] = (part @ shapes.T).T * inverse
    return {"score": score.astype(np.float32)}
