import numpy as np


TOLERANCE = {"new_weights": (1e-4, 1e-6), "trust": (1e-4, 1e-6)}


def make_inputs(rng, tensors, count, step, pattern="ragged"):
    cuts = np.sort((count * rng.random(tensors - 1) ** 2).astype(np.int64))
    offsets = np.concatenate([[0], cuts, [count]])
    if tensors > 5:
        offsets[5] = offsets[4]  # an empty tensor
    scale = np.repeat(rng.choice([0.02, 1.0, 30.0], tensors), np.diff(offsets))
    weights, grad = rng.normal(0.0, 1.0, count) * scale, rng.normal(0.0, 1.0, count)
    moment1, moment2 = rng.normal(0.0, 0.5, count), rng.uniform(0.1, 2.0, count)
    if pattern == "zeros":  # tensors without weights, and tensors without any update
        weights[: count // 2] = 0.0
        grad[: count // 4] = moment1[: count // 4] = 0.0
    return {
        "sizes": np.array([tensors, count, step], dtype=np.int32),
        "offsets": offsets.astype(np.int32),
        "weights": weights.astype(np.float32),
        "grad": grad.astype(np.float32),
        "moment1": moment1.astype(np.float32),
        "moment2": moment2.astype(np.float32),
    }


def reference(inputs):
    step, offsets = int(inputs["sizes"][2]), inputs["offsets"]
    w, g = inputs["weights"].astype(np.float64), inputs["grad"].astype(np.float64)
    m = 0.9 * inputs["moment1"] + 0.1 * g
    v = 0.999 * inputs["moment2"] + 0.001 * g**2
    u = m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-6) + 0.01 * w
    tensors = offsets.size - 1
    owner = np.repeat(np.arange(tensors), np.diff(offsets))
    norms = [np.sqrt(np.bincount(owner, weights=x**2, minlength=tensors)) for x in (w, u)]
    usable = (norms[0] > 0) & (norms[1] > 0)
    trust = np.where(usable, norms[0] / np.where(usable, norms[1], 1.0), 1.0)
    return {"new_weights": (w - 0.002 * trust[owner] * u).astype(np.float32), "trust": trust.astype(np.float32)}
