import numpy as np


TOLERANCE = {"pooled": (1e-4, 1e-5)}


def make_inputs(rng, planes, height, width, out_height, out_width, values="smooth"):
    p, y, x = np.mgrid[:planes, :height, :width]
    activations = np.sin(0.11 * x + p) * np.cos(0.07 * y - p) + rng.normal(0.5, 0.5, x.shape)
    if values == "large":  # sums leave the range of half; plane 0 is constant
        activations = rng.choice([60000.0, 30000.0, 0.0, -2.0], x.shape)
        activations[0] = 65504.0
    return {
        "sizes": np.array([planes, height, width, out_height, out_width], dtype=np.int32),
        "activations": activations.astype(np.float16),
    }


def ranges(size, out):
    o = np.arange(out)
    return o * size // out, -((o + 1) * size // -out)


def reference(inputs):
    _, height, width, out_height, out_width = (int(size) for size in inputs["sizes"])
    sums = np.pad(inputs["activations"].astype(np.float64), ((0, 0), (1, 0), (1, 0))).cumsum(axis=1).cumsum(axis=2)
    (top, bottom), (left, right) = ranges(height, out_height), ranges(width, out_width)
    rows = sums[:, bottom] - sums[:, top]
    windows = rows[:, :, right] - rows[:, :, left]
    counts = (bottom - top)[:, None] * (right - left)
    return {"pooled": (windows / counts).astype(np.float32)}
