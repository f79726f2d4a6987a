import numpy as np


TOLERANCE = {"luma": (0, 0), "cb": (0, 0), "cr": (0, 0)}


def make_inputs(rng, half_height, half_width, values="photo"):
    y, x, c = np.mgrid[: 2 * half_height, : 2 * half_width, :3]
    rgb = 128.0 + 80.0 * np.sin(x / 13.0 + 2.0 * c) + 40.0 * np.cos(y / 9.0 - c) + rng.normal(0.0, 12.0, x.shape)
    if values == "primaries":  # the largest and smallest values of every output, and blocks that average to halves
        rgb = rng.choice([0.0, 255.0], rgb.shape)
        rgb[: half_height // 2] = rng.choice([100.0, 101.0, 102.0], rgb[: half_height // 2].shape)
    return {
        "sizes": np.array([half_height, half_width], dtype=np.int32),
        "rgb": np.clip(np.round(rgb), 0, 255).astype(np.uint8),
    }


def reference(inputs):
    rgb = inputs["rgb"].astype(np.int64)
    luma = (rgb @ [66, 129, 25] + 128 >> 8) + 16
    mean = rgb[::2, ::2] + rgb[::2, 1::2] + rgb[1::2, ::2] + rgb[1::2, 1::2] + 2 >> 2
    cb = (mean @ [-38, -74, 112] + 128 >> 8) + 128
    cr = (mean @ [112, -94, -18] + 128 >> 8) + 128
    return {"luma": luma.astype(np.uint8), "cb": cb.astype(np.uint8), "cr": cr.astype(np.uint8)}
