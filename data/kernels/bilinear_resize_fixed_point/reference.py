import numpy as np


TOLERANCE = {"resized": (0, 0)}


def make_inputs(rng, height, width, out_height, out_width, values="photo"):
    y, x, c = np.mgrid[:height, :width, :3]
    image = 128.0 + 60.0 * np.sin(x / 9.0 + c) + 50.0 * np.cos(y / 13.0 - c) + rng.normal(0.0, 12.0, x.shape)
    if values == "extremes":
        image = rng.choice([0.0, 255.0], image.shape)
    return {
        "sizes": np.array([height, width, out_height, out_width], dtype=np.int32),
        "image": np.clip(np.round(image), 0, 255).astype(np.uint8),
    }


def taps(size, out):
    position = (2 * np.arange(out, dtype=np.int64) + 1) * size * 32768 // out - 32768
    position = np.clip(position, 0, (size - 1) << 16)
    first = position >> 16
    return first, np.minimum(first + 1, size - 1), (position >> 8) & 255


def reference(inputs):
    height, width, out_height, out_width = (int(size) for size in inputs["sizes"])
    y0, y1, wy = taps(height, out_height)
    x0, x1, wx = taps(width, out_width)
    image, wy, wx = inputs["image"].astype(np.int32), wy[:, None, None], wx[:, None]
    # Rows first: integers without rounding, so the order of the two axes does not matter.
    rows = (256 - wy) * image[y0] + wy * image[y1]
    blended = (256 - wx) * rows[:, x0] + wx * rows[:, x1]
    return {"resized": ((blended + 32768) >> 16).astype(np.uint8)}
