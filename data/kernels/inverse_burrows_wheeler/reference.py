import numpy as np


TOLERANCE = {"text": (0, 0)}


def make_inputs(rng, strings, length, values="text"):
    letters = rng.integers(97, 123, (strings, length), dtype=np.uint8)
    if values == "runs":
        letters[::2] = 97
        letters[1::2] = np.array([200, 3], dtype=np.uint8)
    last, primary = np.empty_like(letters), np.empty(strings, dtype=np.int32)
    for row in range(strings):
        text = letters[row].tobytes()
        double = text + text
        if values == "text" and row % 3 == 0:  # few letters, many repetitions
            text = bytes(97 + (b & 1) for b in text)
            double = text + text
        order = sorted(range(length), key=lambda k: double[k : k + length])
        last[row] = [double[k + length - 1] for k in order]
        primary[row] = order.index(0)
    return {"sizes": np.array([strings, length], dtype=np.int32), "last": last, "primary": primary}


def reference(inputs):
    last = inputs["last"]
    strings, length = last.shape
    successor = np.argsort(last, axis=1, kind="stable")
    row, at = np.arange(strings), inputs["primary"].copy()
    text = np.empty_like(last)
    for k in range(length):
        at = successor[row, at]
        text[:, k] = last[row, at]
    return {"text": text}
