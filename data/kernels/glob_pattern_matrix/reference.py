import numpy as np


TOLERANCE = {"matches": (0, 0)}


def make_inputs(rng, names, width, patterns, values="mixed"):
    text = rng.integers(97, 100, (names, width), dtype=np.uint8)
    lengths = rng.integers(0, width + 1, names)
    text[np.arange(width) >= lengths[:, None]] = 0
    globs = np.zeros((patterns, 64), dtype=np.uint8)
    letters = np.frombuffer(b"abc??***" if values == "stars" else b"abcabc?*", dtype=np.uint8)
    for glob in globs:
        length = rng.integers(0, 8) if rng.random() < 0.9 else 63
        glob[:length] = rng.choice(letters, length)
        if rng.random() < 0.6 and length:
            glob[rng.integers(length)] = ord("*")
    return {"sizes": np.array([names, width, patterns], dtype=np.int32), "text": text, "globs": globs}


def reference(inputs):
    text, globs = inputs["text"], inputs["globs"]
    names, width = text.shape
    ended = np.concatenate([text == 0, np.ones((names, 1), dtype=bool)], axis=1)
    length = ended.argmax(axis=1)
    matches = np.zeros((names, (len(globs) + 31) // 32 * 32), dtype=np.uint8)
    for p, glob in enumerate(globs):
        reach = np.zeros((names, width + 1), dtype=bool)  # which prefixes of the name the pattern so far matches
        reach[:, 0] = True
        for c in glob[: int((glob == 0).argmax())]:
            if c == ord("*"):
                reach = np.logical_or.accumulate(reach, axis=1)
            else:
                moved = np.zeros_like(reach)
                moved[:, 1:] = reach[:, :-1] & ((text == c) | (c == ord("?")))
                reach = moved
        matches[:, p] = reach[np.arange(names), length]
    return {"matches": np.packbits(matches, axis=1, bitorder="little").view(np.uint32)}
