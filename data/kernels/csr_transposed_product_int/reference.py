import numpy as np


TOLERANCE = {"y": (0, 0)}


def make_inputs(rng, rows, cols, entries, pattern="scattered"):
    owner = rng.choice(np.flatnonzero(np.arange(rows) % 10 != 3), entries)
    owner[: entries // 10] = rng.choice([0, rows // 2, rows - 1], entries // 10)
    columns = rng.integers(0, cols, entries, dtype=np.int32)
    columns[columns % 11 == 7] = 0  # one column in eleven is empty and column 0 is crowded
    values, x = rng.integers(-(10**6), 10**6, entries), rng.integers(-(10**6), 10**6, rows)
    if pattern == "extremes":  # products of 62 bits
        values, x = rng.choice([-(2**31), 2**31 - 1, 0, 1], entries), rng.choice([-(2**31), 2**31 - 1], rows)
    x[::5] = 0
    return {
        "sizes": np.array([rows, cols, entries], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=rows))]).astype(np.int32),
        "col_index": columns,
        "values": values.astype(np.int32),
        "x": x.astype(np.int32),
    }


def reference(inputs):
    factors = np.repeat(inputs["x"].astype(np.int64), np.diff(inputs["row_ptr"]))
    y = np.zeros(int(inputs["sizes"][1]), dtype=np.int64)
    np.add.at(y, inputs["col_index"], inputs["values"] * factors)
    return {"y": y}
