import numpy as np


TOLERANCE = {"velocity": (2e-3, 2e-3)}


def make_inputs(rng, targets, sources, values="apart"):
    target = rng.uniform(-1.0, 1.0, (targets, 3))
    source = np.concatenate([rng.uniform(-1.0, 1.0, (sources, 3)), rng.normal(size=(sources, 3))], axis=1)
    if values == "touching":  # many sources sit exactly on targets
        source[::2, :3] = target[rng.integers(0, targets, len(source[::2]))]
    return {
        "sizes": np.array([targets, sources], dtype=np.int32),
        "target": target.astype(np.float32),
        "source": source.astype(np.float32),
        "epsilon": np.array([0.25], dtype=np.float32),
    }


def reference(inputs):
    target, source = inputs["target"].astype(np.float64), inputs["source"].astype(np.float64)
    square = float(inputs["epsilon"][0]) ** 2
    velocity = np.empty_like(target)
    for begin in range(0, len(target), 128):
        part = target[begin : begin + 128]
        d = [part[:, k : k + 1] - source[:, k] for k in range(3)]
        r2 = d[0] ** 2 + d[1] ** 2 + d[2] ** 2
        inverse = (r2 + square) ** -1.5
        along = sum(d[k] * source[:, 3 + k] for k in range(3)) * inverse
        near = (r2 + 2.0 * square) * inverse
        for k in range(3):
            velocity[begin : begin + 128, k] = near @ source[:, 3 + k] + (along * d[k]).sum(axis=1)
    return {"velocity": (velocity / (8.0 * np.pi)).astype(np.float32)}
