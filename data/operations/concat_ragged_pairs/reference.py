import numpy as np


# Values are copied: exact.
TOLERANCE = {"joined": (0, 0), "joined_offsets": (0, 0)}


def make_inputs(rng, a_total, b_total, rows):
    out = {}
    for name, total in (("a", a_total), ("b", b_total)):
        cuts = np.sort(rng.integers(0, total + 1, rows - 1))
        cuts[7] = cuts[8]
        out[name + "_values"] = rng.normal(0, 1, total).astype(np.float32)
        out[name + "_offsets"] = np.concatenate(([0], cuts, [total])).astype(np.int32)
    return out


def reference(inputs):
    a, b = inputs["a_offsets"].astype(np.int64), inputs["b_offsets"].astype(np.int64)
    joined = np.empty(a[-1] + b[-1], np.float32)
    row_a = np.repeat(np.arange(len(a) - 1), np.diff(a))
    row_b = np.repeat(np.arange(len(b) - 1), np.diff(b))
    joined[np.arange(a[-1]) + b[row_a]] = inputs["a_values"]
    joined[np.arange(b[-1]) + a[row_b + 1]] = inputs["b_values"]
    return {"joined": joined, "joined_offsets": (a + b).astype(np.int32)}
