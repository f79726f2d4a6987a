import numpy as np


TOLERANCE = {"means": (1e-5, 1e-5)}


def make_inputs(rng, table_rows, dim4, bags, entries, pattern="scattered"):
    # One bag takes a tenth of the entries, and one in seven is empty; sparse: nearly all are.
    filled = np.arange(bags) % 7 != 1
    if pattern == "sparse":
        filled = np.arange(bags) % 101 == 50
    owner = rng.choice(np.flatnonzero(filled), entries)
    owner[: entries // 10] = np.flatnonzero(filled)[-1]
    indices = rng.integers(0, table_rows, entries, dtype=np.int32)
    if pattern == "sparse":
        indices[::3] = table_rows - 1
    return {
        "sizes": np.array([table_rows, dim4, bags, entries], dtype=np.int32),
        "table": rng.normal(0.5, 1.0, (table_rows, 4 * dim4)).astype(np.float32),
        "offsets": np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=bags))]).astype(np.int32),
        "indices": indices,
    }


def reference(inputs):
    table, offsets = inputs["table"], inputs["offsets"]
    lengths = np.diff(offsets)
    filled = lengths > 0  # reduceat has no empty pieces
    sums = np.add.reduceat(table[inputs["indices"]], offsets[:-1][filled], axis=0, dtype=np.float64)
    means = np.zeros((lengths.size, table.shape[1]), dtype=np.float32)
    means[filled] = sums / lengths[filled, None]
    return {"means": means}
