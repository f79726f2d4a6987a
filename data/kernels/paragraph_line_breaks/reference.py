import numpy as np


TOLERANCE = {"cost": (0, 0), "first": (0, 0)}


def make_inputs(rng, paragraphs, words, width, values="prose"):
    length = rng.geometric(0.22, (paragraphs, words))
    if values == "extremes":  # costs beyond 32 bits, lines of 128 words, ties, words as long as a line
        length[:] = width // 2 + 1 + rng.integers(0, 2, length.shape)
        length[::4] = 1
        length[1::4] = rng.choice([1, width], length[1::4].shape)
        length[2::4] = 50
    return {
        "sizes": np.array([paragraphs, words, width], dtype=np.int32),
        "length": np.clip(length, 1, width).astype(np.uint8),
    }


def reference(inputs):
    length = inputs["length"].astype(np.int64)
    width = int(inputs["sizes"][2])
    paragraphs, words = length.shape
    ends = np.zeros((paragraphs, words + 1), dtype=np.int64)  # where word k ends, with a space after each word
    ends[:, 1:] = np.cumsum(length + 1, axis=1)
    rows = np.arange(paragraphs)
    best = np.zeros((paragraphs, words + 1), dtype=np.int64)
    follows = np.zeros((paragraphs, words), dtype=np.int64)
    for i in range(words - 1, -1, -1):
        last = min(words, i + (width + 1) // 2)
        room = width + 1 - (ends[:, i + 1 : last + 1] - ends[:, i : i + 1])
        price = np.where(np.arange(i + 1, last + 1) == words, 0, room**3) + best[:, i + 1 : last + 1]
        price = np.where(room >= 0, price, 1 << 60)
        choice = price.shape[1] - 1 - price[:, ::-1].argmin(axis=1)  # the longest of the best lines
        best[:, i] = price[rows, choice]
        follows[:, i] = i + 1 + choice
    first = np.zeros((paragraphs, words + 1), dtype=np.uint8)
    place = np.zeros(paragraphs, dtype=np.int64)
    while (place < words).any():
        first[rows, place] = 1
        place = np.where(place < words, follows[rows, np.minimum(place, words - 1)], words)
    return {"cost": best[:, 0].copy(), "first": np.ascontiguousarray(first[:, :words])}
