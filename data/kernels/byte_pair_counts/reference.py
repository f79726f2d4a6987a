import numpy as np


TOLERANCE = {"counts": (0, 0)}


def make_inputs(rng, n, values="text"):
    # A few byte values make up most of the text, as in natural language; all 256 occur.
    text = np.minimum(rng.geometric(0.06, n) + 31, 255)
    text[rng.random(n) < 0.05] = 0
    noise = rng.random(n) < 0.1
    text[noise] = rng.integers(0, 256, int(noise.sum()))
    if values == "runs":  # long runs of one byte (also 255 at the very end), and strict alternation
        text[: n // 3] = 97
        text[n // 3 : n // 2 : 2], text[n // 3 + 1 : n // 2 : 2] = 0, 255
        text[-1000:] = 255
    return {"sizes": np.array([n], dtype=np.int32), "text": text.astype(np.uint8)}


def reference(inputs):
    text = inputs["text"].astype(np.int64)
    pairs = np.bincount(256 * text[:-1] + text[1:], minlength=65536)
    return {"counts": pairs.reshape(256, 256).astype(np.uint32)}
