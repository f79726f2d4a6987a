import numpy as np


TOLERANCE = {"advected": (1e-4, 1e-5)}


def make_inputs(rng, ny, nx, steps, values="swirl"):
    y, x = np.mgrid[:ny, :nx]
    density = 1.0 + ((x // 6 + y // 9) % 2) + rng.uniform(0.0, 0.5, x.shape)
    cx = 0.45 * np.sin(6.3 * (y + 0.3) / ny + 0.1 * x)
    cy = 0.45 * np.cos(6.3 * (x + 0.7) / nx - 0.2 * y)
    if values == "shift":  # a Courant number of exactly -1 or 1 moves everything by one cell a step
        density = rng.integers(0, 100, x.shape)
        cx, cy = np.where(y % 2 == 0, -1.0, 1.0), np.zeros(x.shape)
    return {
        "sizes": np.array([ny, nx, steps], dtype=np.int32),
        "density": density.astype(np.float32),
        "courant": np.stack([cx, cy], axis=-1).astype(np.float32),
    }


def reference(inputs):
    q = inputs["density"].astype(np.float64)
    cx, cy = np.moveaxis(inputs["courant"].astype(np.float64), -1, 0)
    right, left, up, down = np.maximum(cx, 0), np.minimum(cx, 0), np.maximum(cy, 0), np.minimum(cy, 0)
    for _ in range(inputs["sizes"][2]):
        along_x = right * (q - np.roll(q, 1, axis=1)) + left * (np.roll(q, -1, axis=1) - q)
        along_y = up * (q - np.roll(q, 1, axis=0)) + down * (np.roll(q, -1, axis=0) - q)
        q = q - along_x - along_y
    return {"advected": q.astype(np.float32)}
