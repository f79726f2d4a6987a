import numpy as np


TOLERANCE = {"period": (0, 0), "borders": (0, 0)}


def make_inputs(rng, records, width, values="repeats"):
    text = rng.integers(97, 99, (records, width)).astype(np.uint8)
    lengths = rng.integers(0, width + 1, records)
    lengths[rng.random(records) < 0.3] = width
    lengths[0] = width
    for row in range(records):
        unit = int(rng.integers(1, max(2, width // 2 + 1)))
        if row % 4 != 3:
            text[row] = np.resize(text[row, :unit], width)
        if row % 4 == 2:  # nearly periodic: one byte differs
            text[row, rng.integers(0, width)] ^= 1
    if values == "one letter":  # every length is a period, but for a last byte in some rows
        text[:] = 0
        text[1::3, -1] = 255
        lengths[::3] = np.arange(lengths[::3].size)
    return {
        "sizes": np.array([records, width], dtype=np.int32),
        "text": text,
        "lengths": lengths.astype(np.int32),
    }


def prefix_function(word):
    """The length of the longest border of every prefix, index 0 for the empty one."""
    longest = [0] * (len(word) + 1)
    k = 0
    for i in range(1, len(word)):
        while k and word[i] != word[k]:
            k = longest[k]
        k += word[i] == word[k]
        longest[i + 1] = k
    return longest


def reference(inputs):
    period = np.zeros_like(inputs["lengths"])
    borders = np.zeros_like(inputs["lengths"])
    for row, (text, length) in enumerate(zip(inputs["text"], inputs["lengths"].tolist(), strict=True)):
        longest = prefix_function(text[:length].tobytes())
        period[row] = length - longest[length]
        k = longest[length]
        while k:
            borders[row] += 1
            k = longest[k]
    return {"period": period, "borders": borders}
