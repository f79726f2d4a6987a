import numpy as np


# Values are selected: exact.
TOLERANCE = {"bag": (0, 0)}


def make_inputs(rng, vocab, dim, bags, total_items):
    items = rng.integers(0, vocab, total_items)
    items[rng.random(total_items) < 0.1] = -1
    cuts = np.sort(rng.integers(0, total_items + 1, bags - 1))
    return {
        "table": rng.normal(0.0, 1.0, (vocab, dim)).astype(np.float32),
        "items": items.astype(np.int32),
        "offsets": np.concatenate([[0], cuts, [total_items]]).astype(np.int32),
    }


def reference(inputs):
    table, items, off = inputs["table"], inputs["items"], inputs["offsets"]
    owner = np.repeat(np.arange(len(off) - 1), np.diff(off))
    keep = items >= 0
    owner, rows = owner[keep], items[keep]
    out = np.zeros((len(off) - 1, table.shape[1]), np.float32)
    bags, first = np.unique(owner, return_index=True)
    out[bags] = np.maximum.reduceat(table[rows], first, axis=0)
    return {"bag": out}
