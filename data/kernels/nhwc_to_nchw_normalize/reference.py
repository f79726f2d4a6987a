import numpy as np


TOLERANCE = {"planes": (1e-5, 1e-5)}


def make_inputs(rng, images, height, width, values="uniform"):
    pixels = rng.integers(0, 256, (images, height, width, 3), dtype=np.uint8)
    mean, std = rng.uniform(0.3, 0.6, 3), rng.uniform(0.15, 0.3, 3)
    if values == "extremes":  # black and white only, means on both ends and beyond
        pixels = np.where(pixels < 128, 0, 255).astype(np.uint8)
        mean, std = np.array([0.0, 1.0, -2.0]), np.array([1.0, 0.25, 1000.0])
    return {
        "sizes": np.array([images, height, width], dtype=np.int32),
        "pixels": pixels,
        "mean": mean.astype(np.float32),
        "std": std.astype(np.float32),
    }


def reference(inputs):
    scaled = (inputs["pixels"] / 255.0 - inputs["mean"].astype(np.float64)) / inputs["std"].astype(np.float64)
    return {"planes": np.ascontiguousarray(scaled.transpose(0, 3, 1, 2)).astype(np.float32)}
