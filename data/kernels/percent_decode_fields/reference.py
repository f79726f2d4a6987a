import re

import numpy as np


TOLERANCE = {"decoded": (0, 0), "new_lengths": (0, 0)}
ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")


def make_inputs(rng, fields, width, values="usual"):
    letters = b"ab+ 3f%%F" if values == "damaged" else b"abcdefghijklmnop%+"
    text = rng.choice(np.frombuffer(letters, dtype=np.uint8), (fields, width))
    if values == "usual":  # most percent signs get two digits
        row, at = np.nonzero(
            (text[:, : max(width - 2, 0)] == ord("%")) & (rng.random((fields, max(width - 2, 0))) < 0.9)
        )
        digits = np.frombuffer(b"0123456789abcdefABCDEF", dtype=np.uint8)
        for step in (1, 2):
            text[row, at + step] = rng.choice(digits, row.size)
    lengths = rng.integers(width // 2, width + 1, fields)
    lengths[-1] = 0
    return {
        "sizes": np.array([fields, width], dtype=np.int32),
        "text": text,
        "lengths": lengths.astype(np.int32),
    }


def reference(inputs):
    decoded = np.zeros_like(inputs["text"])
    new_lengths = np.zeros_like(inputs["lengths"])
    for k, (row, length) in enumerate(zip(inputs["text"], inputs["lengths"], strict=True)):
        plain = row[:length].tobytes().replace(b"+", b" ")
        plain = ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), plain)
        decoded[k, : len(plain)] = np.frombuffer(plain, dtype=np.uint8)
        new_lengths[k] = len(plain)
    return {"decoded": decoded, "new_lengths": new_lengths}
