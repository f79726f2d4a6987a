import numpy as np


TOLERANCE = dict.fromkeys(("ez", "hx", "hy"), (1e-4, 1e-5))


def make_inputs(rng, height, width, steps, values="mixed"):
    permittivity = rng.choice([1.0, 2.25, 4.0], (height, width))
    if values == "glass":
        permittivity = np.full((height, width), 2.25)
    pulse = rng.normal(0.0, 1.0, steps)
    return {
        "sizes": np.array([height, width, steps], dtype=np.int32),
        "permittivity": permittivity.astype(np.float32),
        "pulse": pulse.astype(np.float32),
    }


def reference(inputs):
    height, width, _ = inputs["sizes"]
    factor = 0.5 / inputs["permittivity"].astype(np.float64)
    ez, hx, hy = (np.zeros((height, width)) for _ in range(3))
    for pulse in inputs["pulse"].astype(np.float64):
        hx[:-1] -= 0.5 * (ez[1:] - ez[:-1])
        hy[:, :-1] += 0.5 * (ez[:, 1:] - ez[:, :-1])
        curl = (hy[1:-1, 1:-1] - hy[1:-1, :-2]) - (hx[1:-1, 1:-1] - hx[:-2, 1:-1])
        ez[1:-1, 1:-1] += factor[1:-1, 1:-1] * curl
        ez[height // 2, width // 2] += pulse
    return {"ez": ez.astype(np.float32), "hx": hx.astype(np.float32), "hy": hy.astype(np.float32)}
