import numpy as np


TOLERANCE = {"cells": (0, 0)}


def make_inputs(rng, height, width, values="texture"):
    # A coarse wave with noise: runs of one direction, and with 16 grey levels many gradients on sector borders.
    y, x = np.arange(height)[:, None], np.arange(width)[None, :]
    wave = 8.0 + 5.0 * np.sin(0.05 * x + 0.03 * y) + 3.0 * np.cos(0.11 * y)
    image = np.clip(np.round(wave + rng.normal(0.0, 0.7, (height, width))), 0, 15) * 17
    if values == "checkers":  # the largest weights, then flat pixels
        image = 255 * ((y // 2 + x // 2) % 2)
        image[height // 2 :] = np.where(y[height // 2 :] % 64 < 32, 255, 0)
    return {"sizes": np.array([height, width], dtype=np.int32), "image": image.astype(np.uint8)}


def reference(inputs):
    image = inputs["image"].astype(np.int32)
    height, width = image.shape
    padded = np.pad(image, 1, mode="edge")
    gx = padded[1:-1, 2:] - padded[1:-1, :-2]
    gy = padded[2:, 1:-1] - padded[:-2, 1:-1]
    ax, ay = np.abs(gx), np.abs(gy)
    sector = np.select(
        [(gx > 0) & (gy >= 0), (gx <= 0) & (gy > 0), (gx < 0) & (gy <= 0), (gx >= 0) & (gy < 0)],
        [0 + (ay >= ax), 2 + (ax >= ay), 4 + (ay >= ax), 6 + (ax >= ay)],
    )
    rows, columns = (height + 7) // 8, (width + 7) // 8
    cell = (np.arange(height) // 8)[:, None] * columns + np.arange(width) // 8
    # Sums of integers far below 2**53, so the float64 weights of bincount lose nothing.
    totals = np.bincount((cell * 8 + sector).ravel(), weights=(ax + ay).ravel(), minlength=rows * columns * 8)
    return {"cells": totals.astype(np.int32).reshape(rows, columns, 8)}
