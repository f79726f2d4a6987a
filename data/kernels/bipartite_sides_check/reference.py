import numpy as np


TOLERANCE = {"side": (0, 0), "odd_component": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="groups"):
    # Groups of 30 vertices; in two of three groups edges join numbers of different parity only.
    a = rng.integers(0, vertices, edges)
    b = np.minimum(a // 30 * 30 + rng.integers(0, 30, edges), vertices - 1)
    even = a // 30 % 3 != 0
    b = np.where(even & ((a + b) % 2 == 0), a ^ 1, b)
    b = np.where(b >= vertices, np.maximum(a - 1, 0), b)
    if pattern == "grid":  # a grid 30 wide, without odd cycles
        a = rng.integers(0, vertices, edges)
        b = np.where(rng.random(edges) < 0.5, a + 30, np.where(a % 30 < 29, a + 1, a - 1))
        b = np.where(b >= vertices, a - 30, b)
    order = rng.permutation(vertices)
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "edges": order[np.stack([a, b], axis=1)].astype(np.int32),
    }


def reference(inputs):
    vertices = int(inputs["sizes"][0])
    a, b = inputs["edges"].astype(np.int64).T
    left = np.concatenate([2 * a, 2 * a + 1])
    right = np.concatenate([2 * b + 1, 2 * b])
    label = np.arange(2 * vertices)
    while True:
        low = np.minimum(label[left], label[right])
        before = label.copy()
        np.minimum.at(label, label[left], low)
        np.minimum.at(label, label[right], low)
        while not np.array_equal(label, label[label]):
            label = label[label]
        if np.array_equal(before, label):
            break
    first, second = label[0::2], label[1::2]
    odd = first == second
    return {"side": np.where(odd, -1, first > second).astype(np.int32), "odd_component": odd.astype(np.uint8)}
