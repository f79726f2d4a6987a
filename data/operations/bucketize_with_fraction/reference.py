import numpy as np


# Values and edges are multiples of 1/8 and 1/4: bucket numbers are exact, fractions are one division.
TOLERANCE = {"bucket": (0, 0), "fraction": (1e-5, 1e-6)}


def make_inputs(rng, count, edge_count):
    steps = rng.integers(1, 9, edge_count)
    edges = np.cumsum(steps) * 0.25 - steps.sum() * 0.12
    span = edges[-1] - edges[0]
    x = edges[0] + span * rng.uniform(-0.05, 1.05, count)
    return {"x": (np.round(x * 8) / 8).astype(np.float32), "edges": (np.round(edges * 4) / 4).astype(np.float32)}


def reference(inputs):
    x, edges = inputs["x"].astype(np.float64), inputs["edges"].astype(np.float64)
    b = np.searchsorted(edges, x, side="right")
    lo = edges[np.clip(b - 1, 0, len(edges) - 2)]
    hi = edges[np.clip(b, 1, len(edges) - 1)]
    f = np.where(b == 0, 0.0, np.where(b == len(edges), 1.0, (x - lo) / (hi - lo)))
    return {"bucket": b.astype(np.int32), "fraction": f.astype(np.float32)}
