import numpy as np


# Sums of 3 to 40 values of size 1 in any order.
TOLERANCE = {"sums": (1e-5, 2e-5), "counts": (0, 0)}


def make_inputs(rng, items, cols, segments):
    segment = np.sort((segments * rng.random(items) ** 1.3).astype(np.int32))
    segment[segment == segments // 2] += 1
    return {
        "data": rng.normal(0.3, 1, (items, cols)).astype(np.float32),
        "segment": segment.astype(np.int32),
        "scale": rng.uniform(-1, 2, segments).astype(np.float32),
    }


def reference(inputs):
    seg = inputs["segment"]
    segments = len(inputs["scale"])
    out = np.zeros((segments, inputs["data"].shape[1]))
    starts = np.nonzero(np.diff(seg, prepend=-1))[0]
    out[seg[starts]] = np.add.reduceat(inputs["data"].astype(np.float64), starts, axis=0)
    out *= inputs["scale"].astype(np.float64)[:, None]
    return {"sums": out.astype(np.float32), "counts": np.bincount(seg, minlength=segments).astype(np.int32)}
