import numpy as np


TOLERANCE = {"magnitude": (0, 0)}


def make_inputs(rng, height, quads, values="scene"):
    y, x = np.mgrid[:height, : 4 * quads]
    image = 120.0 + 70.0 * np.sin(x / 11.0) * np.cos(y / 17.0) + 40.0 * ((x // 13 + y // 9) % 2)
    image += rng.normal(0.0, 8.0, x.shape)
    if values == "extremes":  # black and white only: the largest gradients
        image = np.where((x // 5 + y // 3) % 2 == 0, 0.0, 255.0)
        image = np.where(rng.random(x.shape) < 0.1, 255.0 - image, image)
    return {
        "sizes": np.array([height, quads], dtype=np.int32),
        "gray": np.clip(np.round(image), 0, 255).astype(np.uint8),
    }


def reference(inputs):
    p = np.pad(inputs["gray"].astype(np.int64), 1, mode="edge")
    smooth = p[:-2] + 2 * p[1:-1] + p[2:]
    slope = p[2:] - p[:-2]
    gx = smooth[:, 2:] - smooth[:, :-2]
    gy = slope[:, :-2] + 2 * slope[:, 1:-1] + slope[:, 2:]
    return {"magnitude": np.floor(np.sqrt(gx * gx + gy * gy)).astype(np.uint16)}
