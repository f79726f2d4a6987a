import numpy as np


TOLERANCE = {"row_ptr": (0, 0), "csr_col_index": (0, 0), "csr_values": (0, 0)}


def make_inputs(rng, rows, cols, entries, pattern="scattered"):
    # A tenth of the entries crowd in three rows, and one row in ten is empty.
    row_index = rng.choice(np.flatnonzero(np.arange(rows) % 10 != 3), entries)
    row_index[: entries // 10] = rng.choice([0, rows // 2, rows - 1], entries // 10)
    rng.shuffle(row_index)
    if pattern == "descending":  # no entry in the first and the last rows, and many in the others
        row_index = np.sort(rng.choice(np.arange(rows // 3, rows // 2, 7), entries))[::-1]
    return {
        "sizes": np.array([rows, cols, entries], dtype=np.int32),
        "row_index": row_index.astype(np.int32),
        "col_index": rng.integers(0, cols, entries, dtype=np.int32),
        "values": rng.normal(0.0, 1.0, entries).astype(np.float32),
    }


def reference(inputs):
    order = np.argsort(inputs["row_index"], kind="stable")
    counts = np.bincount(inputs["row_index"], minlength=int(inputs["sizes"][0]))
    return {
        "row_ptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "csr_col_index": inputs["col_index"][order],
        "csr_values": inputs["values"][order],
    }
