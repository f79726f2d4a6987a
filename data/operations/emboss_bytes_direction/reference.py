import numpy as np


# Integers: exact.
TOLERANCE = {"relief": (0, 0)}


def make_inputs(rng, batch, height, width):
    y, x = np.mgrid[:height, :width]
    wave = 90 * np.sin(x / rng.uniform(3, 9, (batch, 1, 1)) + y / rng.uniform(3, 9, (batch, 1, 1)))
    noise = rng.integers(-20, 21, (batch, height, width), dtype=np.int8)
    return {
        "images": np.clip(128 + wave + noise, 0, 255).astype(np.uint8),
        "direction": (rng.integers(0, 8) + np.arange(batch)).astype(np.int32) % 8,
        "gain": rng.integers(1, 8, batch).astype(np.int32),
    }


def reference(inputs):
    steps = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    out = np.zeros_like(inputs["images"])
    _, h, w = out.shape
    for b, image in enumerate(inputs["images"]):
        p = np.pad(image, 1, mode="edge").astype(np.int32)
        dy, dx = steps[inputs["direction"][b]]
        d = p[1 + dy : 1 + dy + h, 1 + dx : 1 + dx + w] - p[1 - dy : 1 - dy + h, 1 - dx : 1 - dx + w]
        out[b] = np.clip((d * inputs["gain"][b] >> 1) + 128, 0, 255)
    return {"relief": out}
