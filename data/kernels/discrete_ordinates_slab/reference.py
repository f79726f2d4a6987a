import numpy as np


TOLERANCE = {"flux": (1e-9, 1e-10), "leakage": (1e-9, 1e-10)}


def make_inputs(rng, slabs, cells, pairs, rounds, values="layers"):
    nodes, weights = np.polynomial.legendre.leggauss(2 * pairs)
    layer = np.arange(cells) * 5 // cells
    total = rng.uniform(0.3, 3.0, (slabs, 5))[:, layer]
    scatter = total * rng.uniform(0.1, 0.95, (slabs, 5))[:, layer]
    source = rng.uniform(0.0, 2.0, (slabs, 5))[:, layer] * (rng.random((slabs, 5)) < 0.6)[:, layer]
    if values == "empty":
        total[:, layer == 1] = scatter[:, layer == 1] = 0.0  # a gap without matter
        source[0] = 0.0
    return {
        "sizes": np.array([slabs, cells, pairs, rounds], dtype=np.int32),
        "thickness": rng.uniform(2.0, 15.0, slabs),
        "quadrature": np.stack([nodes[pairs:], weights[pairs:]]),
        "material": np.stack([total, scatter, source]),
    }


def reference(inputs):
    _, cells, _, rounds = (int(v) for v in inputs["sizes"])
    mu, weight = inputs["quadrature"]
    total, scatter, source = inputs["material"]
    slope = 2.0 * mu / (inputs["thickness"] / cells)[:, None]
    inside = 1.0 / (total[:, :, None] + slope[:, None, :])  # (slabs, cells, pairs)
    flux = np.zeros_like(total)
    for _ in range(rounds):
        emission = 0.5 * (scatter * flux + source)
        flux = np.zeros_like(total)
        leaks = []
        for order in (range(cells - 1, -1, -1), range(cells)):
            edge = np.zeros_like(slope)
            for c in order:
                middle = (emission[:, c, None] + slope * edge) * inside[:, c]
                edge = 2.0 * middle - edge
                flux[:, c] += middle @ weight
            leaks.append(edge @ (mu * weight))
    return {"flux": flux, "leakage": np.stack(leaks, axis=1)}
