import numpy as np


TOLERANCE = {"counts": (0, 0), "outside": (0, 0)}


def make_inputs(rng, n, bins, values="normal"):
    # Steps of 1/4 and more between edges; values on a grid of 1/4 hit the edges often.
    edges = np.cumsum(rng.integers(1, 9, bins + 1)) / 4.0
    edges -= edges[bins // 2]
    margin = 0.05 * (edges[-1] - edges[0]) + 1.0
    x = np.round(rng.uniform(edges[0] - margin, edges[-1] + 2.0 * margin, n) * 4.0) / 4.0
    if values == "on_edges":  # exactly on the borders, just beside them, and very far away
        edges += 0.25 - edges[0]  # the neighbours of 0 are denormal: keep the borders above
        x = rng.choice(edges, n).astype(np.float32)
        x[::5] = np.nextafter(x[::5], np.float32(np.inf))
        x[1::5] = np.nextafter(x[1::5], np.float32(-np.inf))
        x[2::50], x[3::25] = 3.0e38, -3.0e38
    return {
        "sizes": np.array([n, bins], dtype=np.int32),
        "values": x.astype(np.float32),
        "edges": edges.astype(np.float32),
    }


def reference(inputs):
    values, edges = inputs["values"], inputs["edges"]
    slot = np.searchsorted(edges, values, side="right")
    slot[values == edges[-1]] = edges.size - 1
    slots = np.bincount(slot, minlength=edges.size + 1)
    return {"counts": slots[1:-1].astype(np.uint32), "outside": slots[[0, -1]].astype(np.uint32)}
