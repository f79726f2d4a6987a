import numpy as np


# Integers: exact.
TOLERANCE = {"reverse": (0, 0), "mutual": (0, 0)}


def make_inputs(rng, nodes, entries):
    span = 2 * (entries // nodes) + 9
    slot = np.sort(rng.choice(nodes * span, entries, replace=False))
    owner = slot // span
    other = (owner + slot % span - span // 2) % nodes
    order = np.lexsort((other, owner))
    return {
        "row_start": np.searchsorted(owner, np.arange(nodes + 1)).astype(np.int32),
        "neighbor": other[order].astype(np.int32),
    }


def reference(inputs):
    start, neighbor = inputs["row_start"], inputs["neighbor"].astype(np.int64)
    nodes = len(start) - 1
    owner = np.repeat(np.arange(nodes), np.diff(start))
    keys, wanted = owner * nodes + neighbor, neighbor * nodes + owner
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[at] == wanted
    return {
        "reverse": np.where(found, at, -1).astype(np.int32),
        "mutual": np.bincount(owner[found], minlength=nodes).astype(np.int32),
    }
