import numpy as np


TOLERANCE = {"final": (1e-3, 1e-4)}


def make_inputs(rng, height, width, steps, values="spots"):
    v = np.zeros((height, width))
    if values == "stripe":
        v[:, : width // 8 + 1] = 0.4
    else:
        v[rng.random((height, width)) < 0.15] = 0.5
    u = 1.0 - v + rng.uniform(-0.01, 0.01, v.shape)
    rates = np.array([0.16, 0.08, 0.035, 0.065])
    return {
        "sizes": np.array([height, width, steps], dtype=np.int32),
        "start": np.stack([u, v], axis=2).astype(np.float32),
        "rates": rates.astype(np.float32),
    }


def reference(inputs):
    u, v = np.moveaxis(inputs["start"].astype(np.float64), 2, 0)
    spread_u, spread_v, feed, kill = inputs["rates"].astype(np.float64)

    def laplacian(field):
        near = np.roll(field, 1, 0) + np.roll(field, -1, 0) + np.roll(field, 1, 1) + np.roll(field, -1, 1)
        return near - 4.0 * field

    for _ in range(inputs["sizes"][2]):
        reaction = u * v * v
        change_u = spread_u * laplacian(u) - reaction + feed * (1.0 - u)
        change_v = spread_v * laplacian(v) + reaction - (feed + kill) * v
        u, v = u + change_u, v + change_v
    return {"final": np.stack([u, v], axis=2).astype(np.float32)}
