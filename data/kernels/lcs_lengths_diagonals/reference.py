import numpy as np


TOLERANCE = {"lcs": (0, 0)}


def make_inputs(rng, pairs, length_a, length_b, values="random"):
    letters = rng.integers(2, 12, (pairs, 1))  # alphabets of different sizes: results differ from pair to pair
    a, b = (rng.integers(0, 1000, (pairs, length)) % letters for length in (length_a, length_b))
    if values == "related":  # a is hidden in b, nothing in common, all equal
        for row in range(0, pairs, 3):
            b[row, np.sort(rng.choice(length_b, length_a, replace=False))] = a[row]
        b[1::3] += 100
        a[2::9], b[2::9] = 7, 7
    return {
        "sizes": np.array([pairs, length_a, length_b], dtype=np.int32),
        "a": a.astype(np.uint8),
        "b": b.astype(np.uint8),
    }


def reference(inputs):
    a, b = inputs["a"], inputs["b"]
    row = np.zeros((len(a), b.shape[1] + 1), dtype=np.int32)
    for i in range(a.shape[1]):
        taken = row[:, :-1] + (a[:, i : i + 1] == b)
        row[:, 1:] = np.maximum.accumulate(np.maximum(row[:, 1:], taken), axis=1)
    return {"lcs": row[:, -1].copy()}
