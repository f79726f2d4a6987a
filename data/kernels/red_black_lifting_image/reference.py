import numpy as np


TOLERANCE = {"coefficients": (0, 0)}


def make_inputs(rng, height, width, values="image"):
    y, x = np.mgrid[:height, :width]
    image = 900.0 * np.sin(x / 13.0) * np.cos(y / 21.0) + rng.normal(0.0, 40.0, (height, width))
    image += 500.0 * ((x // 40 + y // 30) % 2)
    if values == "extremes":
        image = rng.choice([-32768.0, -1.0, 0.0, 1.0, 32767.0], (height, width))
    return {"sizes": np.array([height, width], dtype=np.int32), "image": np.rint(image).astype(np.int16)}


def cross(a):
    p = np.pad(a, 1, mode="reflect")
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]


def diagonal(a):
    p = np.pad(a, 1, mode="reflect")
    return p[:-2, :-2] + p[:-2, 2:] + p[2:, :-2] + p[2:, 2:]


def reference(inputs):
    a = inputs["image"].astype(np.int64)
    i, j = np.indices(a.shape)
    black = (i + j) % 2 == 1
    odd, even = (i % 2 == 1) & ~black, (i % 2 == 0) & ~black
    a = np.where(black, a - ((cross(a) + 2) >> 2), a)
    a = np.where(~black, a + ((cross(a) + 4) >> 3), a)
    a = np.where(odd, a - ((diagonal(a) + 2) >> 2), a)
    a = np.where(even, a + ((diagonal(a) + 4) >> 3), a)
    return {"coefficients": a.astype(np.int32)}
