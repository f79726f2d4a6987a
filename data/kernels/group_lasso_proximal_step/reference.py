import numpy as np


TOLERANCE = {"new_weights": (1e-4, 1e-6), "norms": (1e-4, 1e-6)}


def make_inputs(rng, groups, count, pattern="mixed"):
    offsets = np.concatenate([[0], np.sort((count * rng.random(groups - 1) ** 1.2).astype(np.int64)), [count]])
    if groups > 6:
        offsets[6] = offsets[5]  # an empty group
    owner = np.repeat(np.arange(groups), np.diff(offsets))
    scale = rng.choice([0.01, 0.05, 0.5], groups)[owner]
    weights, grad = rng.normal(0.0, 1.0, count) * scale, rng.normal(0.0, 1.0, count) * scale
    if pattern == "dead":  # groups of zeros, and groups that vanish in this step
        weights[owner % 3 == 0] = grad[owner % 3 == 0] = 0.0
        weights[owner % 3 == 1] *= 0.001
    return {
        "sizes": np.array([groups, count], dtype=np.int32),
        "offsets": offsets.astype(np.int32),
        "weights": weights.astype(np.float32),
        "grad": grad.astype(np.float32),
    }


def reference(inputs):
    sizes = np.diff(inputs["offsets"])
    owner = np.repeat(np.arange(sizes.size), sizes)
    v = inputs["weights"].astype(np.float64) - 0.125 * inputs["grad"]
    length = np.sqrt(np.bincount(owner, weights=v**2, minlength=sizes.size))
    norms = np.maximum(0.0, length - 0.125 * 0.25 * np.sqrt(sizes))
    factor = norms / np.where(length > 0, length, 1.0)
    return {"new_weights": (v * factor[owner]).astype(np.float32), "norms": norms.astype(np.float32)}
