import numpy as np


TOLERANCE = {"clean": (0, 0)}


def make_inputs(rng, height, width, values="noise"):
    y, x = np.mgrid[:height, :width]
    image = 127.0 + 60.0 * np.sin(x / 23.0) + 50.0 * np.cos(y / 31.0) + rng.normal(0.0, 6.0, x.shape)
    noise = rng.random(x.shape)
    image = np.where(noise < 0.08, 0.0, np.where(noise > 0.92, 255.0, image))
    if values == "extremes":
        image = np.where(noise < 0.5, 0.0, 255.0)
    return {
        "sizes": np.array([height, width], dtype=np.int32),
        "noisy": np.clip(np.round(image), 0, 255).astype(np.uint8),
    }


def reference(inputs):
    height, width = inputs["noisy"].shape
    padded = np.pad(inputs["noisy"], 1, mode="edge")
    windows = np.stack([padded[dy : dy + height, dx : dx + width] for dy in range(3) for dx in range(3)])
    return {"clean": np.sort(windows, axis=0)[4]}
