import numpy as np


TOLERANCE = {"field": (1e-3, 1e-5)}


def make_inputs(rng, height, width, steps, medium="random"):
    y, x = np.arange(height)[:, None], np.arange(width)
    start = np.zeros((height, width))
    for _ in range(12):
        distance = (y - rng.uniform(0.1, 0.9) * height) ** 2 + (x - rng.uniform(0.1, 0.9) * width) ** 2
        start += rng.uniform(-1.0, 1.0) * np.exp(-distance / rng.uniform(20.0, 120.0))
    start[[0, -1], :] = 0.0
    start[:, [0, -1]] = 0.0
    courant2 = rng.uniform(0.05, 0.2, (height, width))
    if medium == "layers":  # fast and slow layers, parted by walls where nothing moves
        courant2 = np.broadcast_to(np.array([0.25, 0.0, 0.0625])[y // 15 % 3], (height, width))
    return {
        "sizes": np.array([height, width, steps], dtype=np.int32),
        "start": start.astype(np.float32),
        "courant2": courant2.astype(np.float32),
    }


def reference(inputs):
    courant2 = inputs["courant2"].astype(np.float64)[1:-1, 1:-1]
    old = inputs["start"].astype(np.float64)
    now = old.copy()
    for _ in range(inputs["sizes"][2]):
        laplacian = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4.0 * now[1:-1, 1:-1]
        old[1:-1, 1:-1] = 2.0 * now[1:-1, 1:-1] - old[1:-1, 1:-1] + courant2 * laplacian
        old, now = now, old
    return {"field": now.astype(np.float32)}
