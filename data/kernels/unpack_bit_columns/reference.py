import numpy as np


TOLERANCE = {"values": (0, 0)}


def make_inputs(rng, frames, words, values="any"):
    most = min(32, words // frames)
    widths = rng.integers(0, most + 1, frames)
    if values == "edges":
        widths = rng.choice([0, 1, 31, 32], frames)
    offsets = np.concatenate([[0], np.cumsum(widths)])
    return {
        "sizes": np.array([frames, words], dtype=np.int32),
        "packed": rng.integers(0, 2**32, words, dtype=np.uint32),
        "offsets": offsets.astype(np.int32),
        "bases": rng.integers(-(2**60), 2**60, frames).astype(np.int64),
        "widths": widths.astype(np.uint8),
    }


def reference(inputs):
    packed, widths = inputs["packed"], inputs["widths"].astype(np.int64)
    bits = np.unpackbits(packed.view(np.uint8), bitorder="little")
    lane = np.arange(32)
    values = np.zeros((widths.size, 32), dtype=np.int64)
    start = inputs["offsets"][:-1].astype(np.int64)[:, None] * 32 + lane * widths[:, None]
    for k in range(32):
        used = np.broadcast_to(k < widths[:, None], values.shape)
        values[used] += bits[(start + k)[used]].astype(np.int64) << k
    zigzag = (values >> 1) ^ -(values & 1)
    return {"values": inputs["bases"][:, None] + np.cumsum(zigzag, axis=1)}
