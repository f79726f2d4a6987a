import numpy as np


TOLERANCE = {"weights": (1e-4, 1e-7)}


def make_inputs(rng, rows, entries, values="normal"):
    # One row in ten is empty, and three rows share a twentieth of the entries.
    owner = rng.choice(np.flatnonzero(np.arange(rows) % 10 != 3), entries)
    owner[: entries // 20] = rng.choice([0, rows // 2, rows - 1], entries // 20)
    scores = rng.normal(0.0, 3.0, entries) + rng.uniform(-200.0, 200.0, rows)[np.sort(owner)]
    if values == "extremes":  # few entries: empty rows, single entries, ties and huge scores
        scores = rng.choice([1.0e30, -1.0e30, 5.0, 5.5], entries)
    return {
        "sizes": np.array([rows, entries], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=rows))]).astype(np.int32),
        "scores": scores.astype(np.float32),
    }


def reference(inputs):
    row_ptr, scores = inputs["row_ptr"], inputs["scores"].astype(np.float64)
    lengths = np.diff(row_ptr)
    lengths, starts = lengths[lengths > 0], row_ptr[:-1][lengths > 0]
    exponentials = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
    sums = np.repeat(np.add.reduceat(exponentials, starts), lengths)
    return {"weights": (exponentials / sums).astype(np.float32)}
