import numpy as np


TOLERANCE = {"kind": (0, 0), "ends": (0, 0), "field_count": (0, 0)}


def make_inputs(rng, bytes, values="plain"):
    letters = b'ab"",,,,,\n1234567' if values == "plain" else b'a"b,c,d\nefghijklmnopqrstuvw'
    return {
        "sizes": np.array([bytes], dtype=np.int32),
        "text": rng.choice(np.frombuffer(letters, dtype=np.uint8), bytes),
    }


def reference(inputs):
    text = inputs["text"]
    quote = text == ord('"')
    outside = (np.cumsum(quote) - quote) % 2 == 0  # an even number of quotes before
    kind = np.zeros(text.size, dtype=np.uint8)
    kind[outside & (text == ord(","))] = 1
    kind[outside & (text == ord("\n"))] = 2
    kind[quote] = 3
    found = np.flatnonzero((kind == 1) | (kind == 2))
    ends = np.full(text.size, -1, dtype=np.int32)
    ends[: found.size] = found
    return {"kind": kind, "ends": ends, "field_count": np.array([found.size], dtype=np.int32)}
