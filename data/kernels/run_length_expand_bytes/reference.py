import numpy as np


TOLERANCE = {"expanded": (0, 0), "total": (0, 0)}


def make_inputs(rng, rows, runs, width, values="mixed"):
    lengths = rng.geometric(min(1.0, runs / width), (rows, runs))
    if values == "zeros":  # many empty runs, and rows that overflow the width
        lengths *= rng.integers(0, 2, (rows, runs))
        lengths[::3, 0] = 0
        lengths[1::3, runs // 2] = 65535
    return {
        "sizes": np.array([rows, runs, width], dtype=np.int32),
        "symbols": rng.integers(1, 256, (rows, runs), dtype=np.uint8),
        "lengths": np.minimum(lengths, 65535).astype(np.uint16),
    }


def reference(inputs):
    width = int(inputs["sizes"][2])
    expanded = np.zeros((len(inputs["symbols"]), width), dtype=np.uint8)
    for row, symbols, lengths in zip(expanded, inputs["symbols"], inputs["lengths"], strict=True):
        text = np.repeat(symbols, lengths)[:width]
        row[: text.size] = text
    return {"expanded": expanded, "total": inputs["lengths"].astype(np.int64).sum(axis=1).astype(np.int32)}
