import numpy as np


TOLERANCE = {"counts": (0, 0)}


def make_inputs(rng, particles, bins, values="gas"):
    positions = rng.integers(0, 2**16, (particles, 3), dtype=np.uint16)
    if values == "lattice":  # many equal distances, some of them 0 and on edges
        positions = (positions // 8192 * 8192).astype(np.uint16)
    radius = np.linspace(100 if values == "gas" else 0, 32768, bins + 1)
    edges = (radius**2).astype(np.uint64)
    return {"sizes": np.array([particles, bins], dtype=np.int32), "positions": positions, "edges": edges}


def reference(inputs):
    positions, edges = inputs["positions"], inputs["edges"].astype(np.int64)
    below = np.zeros(edges.size, dtype=np.int64)  # pairs with a squared distance below each edge
    for i in range(0, len(positions), 500):
        part = positions[i : i + 500]
        difference = (part[:, None] - positions[None]).view(np.int16).astype(np.int64)
        square = (difference**2).sum(axis=2)
        later = np.arange(len(positions))[None] > np.arange(i, i + len(part))[:, None]
        place = np.searchsorted(edges, square[later], side="right")
        below += np.bincount(place, minlength=edges.size + 1)[: edges.size].cumsum()
    return {"counts": np.diff(below).astype(np.uint64)}
