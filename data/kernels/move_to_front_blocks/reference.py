import numpy as np


TOLERANCE = {"ranks": (0, 0)}


def make_inputs(rng, blocks, length, values="text"):
    text = np.minimum(rng.geometric(0.08, (blocks, length)), 255).astype(np.uint8)
    text[::3] = rng.integers(0, 256, text[::3].shape, dtype=np.uint8)
    text[1::3] = np.repeat(text[1::3, ::4], 4, axis=1)[:, :length]
    if values == "rare":
        text[:, 0] = np.arange(blocks) % 2 * 255
    return {"sizes": np.array([blocks, length], dtype=np.int32), "text": text}


def reference(inputs):
    text = inputs["text"]
    blocks, length = text.shape
    row = np.arange(blocks)
    rank_of = np.tile(np.arange(256, dtype=np.int16), (blocks, 1))
    ranks = np.empty_like(text)
    for i in range(length):
        symbol = text[:, i]
        rank = rank_of[row, symbol]
        ranks[:, i] = rank
        rank_of += rank_of < rank[:, None]
        rank_of[row, symbol] = 0
    return {"ranks": ranks}
