import numpy as np


TOLERANCE = {"tensor_norms": (1e-5, 1e-7), "clipped": (1e-5, 1e-7)}


def make_inputs(rng, tensors, count, pattern="above"):
    offsets = np.concatenate([[0], np.sort((count * rng.random(tensors - 1) ** 3).astype(np.int64)), [count]])
    if tensors > 3:
        offsets[3] = offsets[2]  # empty
    grad = rng.normal(0.0, 1.0, count) * np.repeat(rng.choice([0.001, 1.0, 20.0], tensors), np.diff(offsets))
    grad[0] = 3.0
    norm = np.sqrt((grad**2).sum())
    return {
        "sizes": np.array([tensors, count], dtype=np.int32),
        "offsets": offsets.astype(np.int32),
        "grad": grad.astype(np.float32),
        "max_norm": np.array([norm * (0.37 if pattern == "above" else 1.5)], dtype=np.float32),
    }


def reference(inputs):
    grad, offsets = inputs["grad"].astype(np.float64), inputs["offsets"]
    owner = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    squares = np.bincount(owner, weights=grad**2, minlength=offsets.size - 1)
    factor = min(1.0, float(inputs["max_norm"][0]) / np.sqrt(squares.sum()))
    return {"tensor_norms": np.sqrt(squares).astype(np.float32), "clipped": (grad * factor).astype(np.float32)}
