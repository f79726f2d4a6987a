import numpy as np


TOLERANCE = {"component": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="scattered"):
    # Ends within groups of 50 numbers modulo a scramble: many components of several sizes, loops and repeats.
    order = rng.permutation(vertices)
    a = rng.integers(0, vertices, edges)
    b = np.minimum(a // 50 * 50 + rng.integers(0, 50, edges), vertices - 1)
    if pattern == "chain":
        a, b = np.arange(edges), np.arange(edges) + 1
        b[edges // 3] = a[edges // 3]  # broken once
    pairs = np.stack([order[a], order[b]], axis=1)
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "edges": rng.permutation(pairs).astype(np.int32),
    }


def reference(inputs):
    vertices = int(inputs["sizes"][0])
    a, b = inputs["edges"].T.astype(np.int64)
    label = np.arange(vertices)
    while True:
        low = np.minimum(label[a], label[b])
        before = label.copy()
        np.minimum.at(label, label[a], low)
        np.minimum.at(label, label[b], low)
        while True:
            shorter = label[label]
            if np.array_equal(shorter, label):
                break
            label = shorter
        if np.array_equal(before, label):
            return {"component": label.astype(np.int32)}
