import numpy as np


TOLERANCE = {"counts": (0, 0), "lists": (0, 0)}


def make_inputs(rng, height, width, lights, values="lamps"):
    light = np.empty((lights, 3), dtype=np.int64)
    light[:, 0] = rng.integers(-100, width + 100, lights)
    light[:, 1] = rng.integers(-100, height + 100, lights)
    light[:, 2] = np.minimum(rng.exponential(60.0, lights), 600.0)
    if values == "touching":  # circles that end at or one pixel before a tile, points, and lights that cover the image
        light[:, 0] = rng.integers(-40, width + 40, lights)
        light[:, 2] = np.abs(light[:, 0] - 15) + rng.integers(-1, 2, lights)
        light[::5, 2] = 0
        light[5::50, 2] = 40000
        light[7::50, :2] = 32767, -32768
        light[:, 2] = np.maximum(light[:, 2], 0)
    return {
        "sizes": np.array([height, width, lights], dtype=np.int32),
        "light": light.astype(np.int32),
    }


def reference(inputs):
    height, width, _ = inputs["sizes"].tolist()
    rows, cols = -(-height // 16), -(-width // 16)
    x, y, radius = inputs["light"].astype(np.int64).T
    left, top = 16 * np.arange(cols), 16 * np.arange(rows)
    dx = x[:, None] - np.clip(x[:, None], left, np.minimum(left + 15, width - 1))
    dy = y[:, None] - np.clip(y[:, None], top, np.minimum(top + 15, height - 1))
    counts = np.zeros((rows, cols), dtype=np.int32)
    lists = np.full((rows, cols, 32), -1, dtype=np.int16)
    for k in range(x.size):
        r, c = np.nonzero(dx[k] ** 2 + (dy[k] ** 2)[:, None] <= radius[k] ** 2)
        place = counts[r, c]
        counts[r, c] += 1
        room = place < 32
        lists[r[room], c[room], place[room]] = k
    return {"counts": counts, "lists": lists}
