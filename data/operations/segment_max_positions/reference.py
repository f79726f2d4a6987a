import numpy as np


# Copied values and integers.
TOLERANCE = {"top": (0, 0), "position": (0, 0)}


def make_inputs(rng, n, segments):
    weights = rng.gamma(0.4, 1.0, segments)
    weights[rng.random(segments) < 0.1] = 0.0
    ends = np.floor(np.cumsum(weights) / weights.sum() * n).astype(np.int64)
    ends[-1] = n
    offsets = np.concatenate([[0], np.minimum(ends, n)]).astype(np.int32)
    values = np.round(rng.normal(-1.0, 1.0, n) * 50.0) / 50.0
    return {"values": values.astype(np.float32), "offsets": offsets}


def reference(inputs):
    values, offsets = inputs["values"], inputs["offsets"].astype(np.int64)
    start, length = offsets[:-1], np.diff(offsets)
    full = length > 0
    top = np.zeros(len(length), np.float32)
    top[full] = np.maximum.reduceat(values, start[full])
    owner = np.repeat(np.arange(len(length)), length)
    hit = np.nonzero(values == top[owner])[0]
    position = np.full(len(length), -1, np.int64)
    position[owner[hit][::-1]] = (hit - start[owner[hit]])[::-1]
    return {"top": top, "position": position.astype(np.int32)}
