import numpy as np


# Means of at most 36 values of size 1 in float32.
TOLERANCE = {"image": (1e-5, 1e-5)}


def make_inputs(rng, planes, patches_y, patches_x, patch):
    return {"patches": rng.normal(0.5, 1, (planes, patches_y, patches_x, patch, patch)).astype(np.float32)}


def reference(inputs):
    p = inputs["patches"].astype(np.float64)
    planes, ny, nx, size, _ = p.shape
    total = np.zeros((planes, 3 * (ny - 1) + size, 3 * (nx - 1) + size))
    count = np.zeros(total.shape[1:])
    for a in range(size):
        for b in range(size):
            total[:, a : a + 3 * ny - 2 : 3, b : b + 3 * nx - 2 : 3] += p[:, :, :, a, b]
            count[a : a + 3 * ny - 2 : 3, b : b + 3 * nx - 2 : 3] += 1
    return {"image": (total / count).astype(np.float32)}
