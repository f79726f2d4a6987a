import numpy as np


TOLERANCE = {"new_weights": (1e-4, 1e-5), "new_state": (1e-4, 1e-5)}


def make_inputs(rng, table, width, updates, pattern="skewed"):
    index = (table * rng.random(updates) ** 3).astype(np.int64)
    if pattern == "one":  # almost all updates name one row
        index[: updates - 20] = table - 1
    return {
        "sizes": np.array([table, width, updates], dtype=np.int32),
        "weights": rng.normal(0.0, 0.5, (table, width)).astype(np.float32),
        "state": rng.exponential(1.0, table).astype(np.float32),
        "index": rng.permutation(index).astype(np.int32),
        "grad": rng.normal(0.05, 1.0, (updates, width)).astype(np.float32),
    }


def reference(inputs):
    weights, state = inputs["weights"].astype(np.float64), inputs["state"].astype(np.float64)
    order = np.argsort(inputs["index"], kind="stable")
    rows, starts = np.unique(inputs["index"][order], return_index=True)
    total = np.add.reduceat(inputs["grad"][order].astype(np.float64), starts, axis=0)
    state[rows] += (total**2).mean(axis=1)
    weights[rows] -= 0.1 * total / (np.sqrt(state[rows]) + 1e-6)[:, None]
    return {"new_weights": weights.astype(np.float32), "new_state": state.astype(np.float32)}
