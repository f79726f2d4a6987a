import numpy as np


TOLERANCE = {"binary": (0, 0), "residue": (0, 0)}


def make_inputs(rng, images, height, width, values="gradient"):
    i, y, x = np.mgrid[:images, :height, :width]
    gray = 120.0 + 90.0 * np.sin(x / 23.0 + i) * np.cos(y / 19.0 - i) + rng.normal(0.0, 15.0, x.shape)
    if values == "flat":  # constant images of every kind of grey, one of them at the threshold
        gray = np.array([0, 255, 127, 128, 129, 1, 254])[i % 7]
    return {
        "sizes": np.array([images, height, width], dtype=np.int32),
        "gray": np.clip(np.round(gray), 0, 255).astype(np.uint8),
    }


def reference(inputs):
    gray = inputs["gray"]
    images, height, width = gray.shape
    value = np.zeros((images, height + 1, width + 2), dtype=np.int64)  # a margin takes what leaves the image
    value[:, :height, 1:-1] = gray
    binary = np.zeros_like(gray)
    residue = np.zeros(images, dtype=np.int64)
    for t in range(width + 2 * height):  # pixels (y, t - 2 y) do not depend on each other
        y = np.arange(height)
        y = y[(t - 2 * y >= 0) & (t - 2 * y < width)]
        x = t - 2 * y + 1
        old = value[:, y, x]
        white = old >= 128
        binary[:, y, x - 1] = np.where(white, 255, 0)
        error = old - 255 * white
        value[:, y, x + 1] += error * 7 >> 4
        value[:, y + 1, x - 1] += error * 3 >> 4
        value[:, y + 1, x] += error * 5 >> 4
        value[:, y + 1, x + 1] += error >> 4
        residue += np.abs(error).sum(axis=1)
    return {"binary": binary, "residue": residue.astype(np.int32)}
