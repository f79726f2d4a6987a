import numpy as np


TOLERANCE = {"best": (0, 0)}


def make_inputs(rng, problems, items, capacity, values="random"):
    weights = rng.integers(1, max(capacity // 4, 2), (problems, items))
    worth = weights * 3 + rng.integers(0, 200, (problems, items))
    if values == "heavy":  # many items that do not fit, equal items, worthless ones
        weights = rng.choice([1, 50, 599, 600, 601, 100000], (problems, items))
        worth = rng.choice([0, 7, 7000, 1000000], (problems, items))
    return {
        "sizes": np.array([problems, items, capacity], dtype=np.int32),
        "weights": weights.astype(np.int32),
        "values": worth.astype(np.int32),
    }


def reference(inputs):
    problems, _, capacity = inputs["sizes"]
    best = np.zeros((problems, capacity + 1), dtype=np.int64)
    for row, weights, values in zip(best, inputs["weights"], inputs["values"], strict=True):
        for weight, value in zip(weights, values, strict=True):
            if weight <= capacity:
                row[weight:] = np.maximum(row[weight:], row[: capacity + 1 - weight] + value)
    return {"best": best.astype(np.int32)}
