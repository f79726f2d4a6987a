import numpy as np


TOLERANCE = {"mask": (0, 0)}


def make_inputs(rng, n, percent, values="detections"):
    # Detections of the same object overlap heavily.
    objects = rng.integers(-1800, 1400, (n // 8 + 1, 3))
    low = objects[rng.integers(0, len(objects), n)] + rng.integers(-15, 16, (n, 3))
    size = rng.integers(80, 160, (n, 3))
    if values == "halves":  # overlaps of exactly one half, touching boxes, and equal boxes
        low = rng.integers(0, 3, (n, 3)) * 10
        size = np.full((n, 3), 30)
        size[::2, 0] = 15
    sizes = np.array([n, percent], dtype=np.int32)
    return {"sizes": sizes, "boxes": np.concatenate([low, low + size], axis=1).astype(np.int32)}


def reference(inputs):
    n, percent = map(int, inputs["sizes"])
    boxes = inputs["boxes"].astype(np.int64)
    volume = np.prod(boxes[:, 3:] - boxes[:, :3], axis=1)
    words = (n + 63) // 64
    mask = np.zeros((n, words), dtype=np.uint64)
    for i in range(n):
        edges = np.minimum(boxes[i, 3:], boxes[i + 1 :, 3:]) - np.maximum(boxes[i, :3], boxes[i + 1 :, :3])
        common = np.prod(np.maximum(edges, 0), axis=1)
        hit = 100 * common > percent * (volume[i] + volume[i + 1 :] - common)
        bits = np.zeros(64 * words, dtype=np.uint8)
        bits[i + 1 : n] = hit
        mask[i] = np.packbits(bits, bitorder="little").view(np.uint64)
    return {"mask": mask}
