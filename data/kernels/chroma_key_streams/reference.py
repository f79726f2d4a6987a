import numpy as np


TOLERANCE = {"composited": (0, 0)}


def make_inputs(rng, frames, pixels, values="mixed"):
    key = np.array([40, 200, 60, 9])
    screen = np.clip(key + rng.normal(0.0, 12.0, (frames, pixels, 4)), 0, 255)
    actor = rng.integers(0, 256, (frames, pixels, 4))
    foreground = np.where(rng.random((frames, pixels, 1)) < 0.5, screen, actor)
    if values == "thresholds":  # distances around 48 and 176, where alpha begins and ends; A must not count
        key[3] = 255
        foreground = key + rng.choice([0, 15, 16, 17, -16, 43, 44], (frames, pixels, 4))
        far = key[:3] + np.array([55, 55, 66])
        foreground[:, ::5, :3] = far - rng.integers(0, 3, (frames, len(range(0, pixels, 5)), 3))
        foreground[..., 3] = 0
    return {
        "sizes": np.array([frames, pixels], dtype=np.int32),
        "key": key.astype(np.uint8),
        "foreground": np.clip(foreground, 0, 255).astype(np.uint8),
        "background": rng.integers(0, 256, (pixels, 4), dtype=np.uint8),
    }


def reference(inputs):
    front = inputs["foreground"][..., :3].astype(np.int32)
    back = inputs["background"][:, :3].astype(np.int32)
    distance = np.abs(front - inputs["key"][:3].astype(np.int32)).sum(axis=-1, keepdims=True)
    alpha = np.clip(2 * (distance - 48), 0, 256)
    composited = np.full(inputs["foreground"].shape, 255, dtype=np.uint8)
    composited[..., :3] = (front * alpha + back * (256 - alpha) + 128) >> 8
    return {"composited": composited}
