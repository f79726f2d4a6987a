import numpy as np


# A single float32 addition.
TOLERANCE = {"padded": (1e-6, 1e-6), "valid": (0, 0)}


def make_inputs(rng, total, dim, batch, max_len):
    share = rng.gamma(3.0, 1.0, batch)
    share[2] = 0.0
    offsets = np.concatenate(([0], np.cumsum(share)))
    offsets = np.floor(offsets / offsets[-1] * total)
    offsets[-1] = total
    return {
        "values": rng.normal(0, 1, (total, dim)).astype(np.float32),
        "offsets": offsets.astype(np.int32),
        "position": rng.normal(0, 1, (max_len, dim)).astype(np.float32),
    }


def reference(inputs):
    values, offsets, position = inputs["values"], inputs["offsets"], inputs["position"]
    batch, (max_len, dim) = len(offsets) - 1, position.shape
    padded = np.zeros((batch, max_len, dim), np.float32)
    valid = np.zeros((batch, max_len), np.uint8)
    for b in range(batch):
        n = min(max_len, offsets[b + 1] - offsets[b])
        padded[b, :n] = values[offsets[b] : offsets[b] + n] + position[:n]
        valid[b, :n] = 1
    return {"padded": padded, "valid": valid}
