import itertools

import numpy as np


TOLERANCE = {"error_at": (0, 0), "codepoints": (0, 0)}
BAD = [b"\xc0\xaf", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\x80", b"\xf0\x9f\x98", b"\xc3("]


def make_inputs(rng, documents, bytes, values="mostly good"):
    letters = [c.encode() for c in "abcdefgh \u00e9\u00df\u03a9\u4e2d\u20ac\u05d0\ud7ff\ue000\U0001f600\U0010ffff"]
    count = bytes // 2 + 8
    pieces = [letters[k] for k in rng.integers(0, len(letters), count)]
    bad = 0.05 if values == "broken" else 0.5 * documents / count
    for place in np.flatnonzero(rng.random(count) < bad):
        pieces[place] = BAD[rng.integers(len(BAD))]
    text = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    if text.size < bytes:
        text = np.concatenate([text, np.full(bytes - text.size, 65, dtype=np.uint8)])
    ends = np.cumsum([len(piece) for piece in pieces])
    ends = ends[ends <= bytes]
    cuts = np.sort(rng.choice(ends, documents - 1)) if documents > 1 else np.zeros(0, dtype=int)
    if values == "broken":  # cut within characters too
        cuts = np.sort(rng.integers(0, bytes + 1, documents - 1))
    offsets = np.concatenate([[0], cuts, [bytes]]).astype(np.int32)
    return {"sizes": np.array([documents, bytes], dtype=np.int32), "offsets": offsets, "text": text[:bytes].copy()}


def reference(inputs):
    offsets, text = inputs["offsets"], inputs["text"].tobytes()
    error_at, codepoints = [], []
    for begin, end in itertools.pairwise(offsets):
        try:
            codepoints.append(len(text[begin:end].decode("utf-8")))
            error_at.append(-1)
        except UnicodeDecodeError as error:
            error_at.append(error.start)
            codepoints.append(len(text[begin : begin + error.start].decode("utf-8")))
    return {"error_at": np.array(error_at, dtype=np.int32), "codepoints": np.array(codepoints, dtype=np.int32)}
