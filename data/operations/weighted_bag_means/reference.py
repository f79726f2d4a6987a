import numpy as np


# Weighted means of some ten values of size 1 in float32.
TOLERANCE = {"pooled": (1e-5, 1e-5)}


def make_inputs(rng, vocab, dim, tokens, bags):
    cuts = np.sort(rng.integers(0, tokens + 1, bags - 1))
    cuts[3] = cuts[2]
    ids = rng.integers(1, vocab, tokens)
    ids[rng.random(tokens) < 0.15] = 0
    ids[cuts[5] : cuts[6]] = 0
    return {
        "table": rng.normal(0, 1, (vocab, dim)).astype(np.float32),
        "ids": ids.astype(np.int32),
        "weights": rng.uniform(0.1, 2, tokens).astype(np.float32),
        "offsets": np.concatenate(([0], cuts, [tokens])).astype(np.int32),
    }


def reference(inputs):
    ids, offsets = inputs["ids"], inputs["offsets"]
    w = np.where(ids == 0, 0.0, inputs["weights"].astype(np.float64))
    bags, dim = len(offsets) - 1, inputs["table"].shape[1]
    sums, mass = np.zeros((bags, dim)), np.zeros(bags)
    full = np.nonzero(np.diff(offsets))[0]
    for lo in range(0, len(full), 4000):
        part = full[lo : lo + 4000]
        a, z = offsets[part[0]], offsets[part[-1] + 1]
        rows = inputs["table"][ids[a:z]].astype(np.float64) * w[a:z, None]
        sums[part] = np.add.reduceat(rows, offsets[part] - a, axis=0)
        mass[part] = np.add.reduceat(w[a:z], offsets[part] - a)
    return {"pooled": (sums / np.where(mass > 0, mass, 1.0)[:, None]).astype(np.float32)}
