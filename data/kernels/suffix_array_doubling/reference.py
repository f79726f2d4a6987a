import numpy as np


TOLERANCE = {"suffixes": (0, 0), "common": (0, 0)}


def make_inputs(rng, strings, length, values="random"):
    text = rng.integers(97, 101, (strings, length), dtype=np.uint8)
    text[::3] = rng.integers(0, 256, text[::3].shape, dtype=np.uint8)
    if values == "periodic":
        text[:] = np.resize(np.frombuffer(b"abaab", dtype=np.uint8), length)
        text[::2] = 7
    return {"sizes": np.array([strings, length], dtype=np.int32), "text": text}


def reference(inputs):
    text = inputs["text"]
    suffixes, common = np.empty(text.shape, dtype=np.int32), np.zeros(text.shape, dtype=np.int32)
    for row in range(len(text)):
        data = text[row].tobytes()
        order = sorted(range(len(data)), key=lambda k: data[k:])
        suffixes[row] = order
        for k in range(1, len(data)):
            a, b, shared = order[k - 1], order[k], 0
            while max(a, b) + shared < len(data) and data[a + shared] == data[b + shared]:
                shared += 1
            common[row, k] = shared
    return {"suffixes": suffixes, "common": common}
