import numpy as np


# Few float32 roundings of values below 3 for widened. Inputs and widths stand on binary grids on which all
# intermediate values are exact, so that the comparison with 1 and the counts are exact.
TOLERANCE = {"widened": (1e-6, 1e-6), "clipped": (0, 0)}


def make_inputs(rng, segments, length):
    x = np.round(rng.normal(0, 0.45, (segments, length, 2)) * 256) / 256
    width = np.round(rng.uniform(0, 3, segments) * 32) / 32
    width[::7] = 1.0
    width[3::11] = 0.0
    return {"stereo": x.astype(np.float32), "width": width.astype(np.float32)}


def reference(inputs):
    x = inputs["stereo"].astype(np.float64)
    w = inputs["width"].astype(np.float64)[:, None]
    mid, side = (x[..., 0] + x[..., 1]) / 2, w * (x[..., 0] - x[..., 1]) / 2
    y = np.stack([mid + side, mid - side], axis=-1)
    count = (np.abs(y) > 1).sum(axis=(1, 2))
    return {"widened": np.clip(y, -1, 1).astype(np.float32), "clipped": count.astype(np.int32)}
