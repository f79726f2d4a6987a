import re

import numpy as np


TOLERANCE = {"starts": (0, 0), "hashes": (0, 0), "count": (0, 0)}
WORD = re.compile(rb"[A-Za-z0-9_]+")


def make_inputs(rng, bytes, values="short"):
    letters = b"abcXYZ019_ .,\n-" if values == "short" else b"abcdefghijklmnopqrstuvwxyzABCDEFGH01234567_ "
    text = rng.choice(np.frombuffer(letters, dtype=np.uint8), bytes)
    if values == "long":
        text[100:600] = 65
    return {"sizes": np.array([bytes], dtype=np.int32), "text": text}


def reference(inputs):
    text = inputs["text"]
    starts, hashes = np.full(text.size, -1, dtype=np.int32), np.zeros(text.size, dtype=np.uint32)
    count = 0
    for found in WORD.finditer(text.tobytes()):
        value = 0x811C9DC5
        for byte in found[0].lower():
            value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
        starts[count], hashes[count] = found.start(), value
        count += 1
    return {"starts": starts, "hashes": hashes, "count": np.array([count], dtype=np.int32)}
