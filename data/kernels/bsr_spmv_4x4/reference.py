import numpy as np


TOLERANCE = {"y": (1e-4, 1e-3)}


def make_inputs(rng, block_rows, block_cols, blocks, values="normal"):
    owner = rng.choice(np.flatnonzero(np.arange(block_rows) % 10 != 3), blocks)  # one block row in ten is empty
    owner[: blocks // 10] = rng.choice([0, block_rows - 1], blocks // 10)
    entries, x = rng.normal(0.0, 1.0, (blocks, 4, 4)), rng.normal(0.0, 1.0, 4 * block_cols)
    if values == "integers":  # exact in float, with cancellation and a zero in every x[4 c + 2]
        entries, x = rng.integers(-20, 21, (blocks, 4, 4)), rng.integers(-50, 51, 4 * block_cols)
        x[2::4] = 0
    return {
        "sizes": np.array([block_rows, block_cols, blocks], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=block_rows))]).astype(np.int32),
        "col_index": rng.integers(0, block_cols, blocks, dtype=np.int32),
        "values": entries.astype(np.float32),
        "x": x.astype(np.float32),
    }


def reference(inputs):
    pieces = inputs["x"].astype(np.float64).reshape(-1, 4)[inputs["col_index"]]
    products = np.matmul(inputs["values"].astype(np.float64), pieces[:, :, None])[:, :, 0]
    block_rows = inputs["row_ptr"].size - 1
    owner = np.repeat(np.arange(block_rows), np.diff(inputs["row_ptr"]))
    y = np.stack([np.bincount(owner, weights=products[:, i], minlength=block_rows) for i in range(4)], axis=1)
    return {"y": y.ravel().astype(np.float32)}
