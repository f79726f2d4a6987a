import numpy as np


TOLERANCE = {"bands": (0, 0)}


def make_inputs(rng, depth, height, width, values="scan"):
    shape = (2 * depth, 2 * height, 2 * width)
    z, y, x = np.indices(shape)
    volume = 500.0 * np.sin(x / 9.0) * np.cos(y / 7.0 + z / 5.0) + rng.normal(0.0, 40.0, shape)
    if values == "extremes":
        volume = rng.choice([-32768, 0, 32767], shape)
    sizes = np.array([depth, height, width], dtype=np.int32)
    return {"sizes": sizes, "volume": np.rint(volume).astype(np.int16)}


def reference(inputs):
    volume = inputs["volume"].astype(np.int64)
    bands = []
    for band in range(8):
        part = volume
        for axis, bit in enumerate((4, 2, 1)):
            first, second = np.moveaxis(part, axis, 0)[0::2], np.moveaxis(part, axis, 0)[1::2]
            part = np.moveaxis(first - second if band & bit else first + second, 0, axis)
        bands.append(part)
    return {"bands": np.stack(bands).astype(np.int32)}
