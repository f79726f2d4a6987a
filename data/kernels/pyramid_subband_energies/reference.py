import numpy as np


TOLERANCE = {"energy": (0, 0)}


def make_inputs(rng, base_rows, base_cols, levels, values="laplace"):
    height, width = 16 * base_rows, 16 * base_cols
    w = rng.laplace(0.0, 60.0, (height, width))
    w[: height >> levels, : width >> levels] += 4000.0
    if values == "extremes":  # one band of the largest squares beside bands of zeros
        w[:] = 0.0
        w[height // 2 :, : width // 2] = -32768.0
        w[0, 0] = 7.0
    sizes = np.array([base_rows, base_cols, levels], dtype=np.int32)
    return {"sizes": sizes, "w": np.clip(np.rint(w), -32768, 32767).astype(np.int16)}


def reference(inputs):
    square, energy = inputs["w"].astype(np.int64) ** 2, []
    for _ in range(int(inputs["sizes"][2])):
        rows, cols = square.shape[0] // 2, square.shape[1] // 2
        energy += [square[:rows, cols:].sum(), square[rows:, :cols].sum(), square[rows:, cols:].sum()]
        square = square[:rows, :cols]
    return {"energy": np.array([*energy, square.sum()], dtype=np.int64)}
