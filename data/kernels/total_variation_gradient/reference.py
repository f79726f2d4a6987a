import numpy as np


TOLERANCE = {"loss": (1e-5, 1e-3), "grad": (1e-4, 1e-5)}


def make_inputs(rng, images, height, width, pattern="noise"):
    image = rng.normal(0.0, 0.5, (images, height, width)) + np.linspace(0.0, 5.0, width)
    if pattern == "flat":  # no difference at all, and one jump
        image[:] = 3.0
        image[1, :, width // 2 :] = 50.0
    return {
        "sizes": np.array([images, height, width], dtype=np.int32),
        "image": image.astype(np.float32),
    }


def reference(inputs):
    image = inputs["image"].astype(np.float64)
    dx, dy = np.zeros_like(image), np.zeros_like(image)
    dx[:, :, :-1] = np.diff(image, axis=2)
    dy[:, :-1] = np.diff(image, axis=1)
    m = np.sqrt(dx**2 + dy**2 + 0.0625)
    grad = -(dx + dy) / m
    grad[:, :, 1:] += (dx / m)[:, :, :-1]
    grad[:, 1:] += (dy / m)[:, :-1]
    return {"loss": m.sum(axis=(1, 2)).astype(np.float32), "grad": grad.astype(np.float32)}
