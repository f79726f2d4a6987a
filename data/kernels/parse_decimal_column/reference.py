import re

import numpy as np


TOLERANCE = {"values": (0, 0), "status": (0, 0)}
NUMBER = re.compile(rb"[ \t]*([+-]?)([0-9]+)[ \t]*")


def field(rng, room, values):
    kind = rng.random()
    if values == "extreme" and room >= 21 and kind < 0.6:
        near = rng.choice([2**63 - 1, -(2**63)]).item()
        return str(near + int(rng.integers(-3, 4))).encode()
    if kind < 0.05 or room == 0:
        return b""
    if kind < 0.15:
        return bytes(rng.choice(np.frombuffer(b"0123 +-x.", dtype=np.uint8), min(room, 4)))
    digits = str(int(rng.integers(0, 10 ** min(room, 18)))).encode()
    if kind < 0.5 and len(digits) + 1 <= room:
        digits = b"+-"[int(rng.integers(2)) :][:1] + digits
    return digits[:room]


def make_inputs(rng, fields, bytes, values="usual"):
    inner = np.sort(rng.integers(0, bytes + 1, fields - 1))
    offsets = np.concatenate([[0], inner, [bytes]])
    if values == "extreme":
        offsets[1:-1] = np.arange(1, fields) * (bytes // fields)
    text = bytearray(b" " * bytes)
    for begin, room in zip(offsets[:-1].tolist(), np.diff(offsets).tolist(), strict=True):
        piece = field(rng, room, values)
        lead = int(rng.integers(0, room - len(piece) + 1)) if room < 40 else 0
        text[begin + lead : begin + lead + len(piece)] = piece
    return {
        "sizes": np.array([fields, bytes], dtype=np.int32),
        "offsets": offsets.astype(np.int32),
        "text": np.frombuffer(text, dtype=np.uint8).copy(),
    }


def reference(inputs):
    offsets, text = inputs["offsets"].tolist(), inputs["text"].tobytes()
    values, status = np.zeros(len(offsets) - 1, dtype=np.int64), np.zeros(len(offsets) - 1, dtype=np.uint8)
    for k in range(len(offsets) - 1):
        found = NUMBER.fullmatch(text, offsets[k], offsets[k + 1])
        if not found:
            status[k] = 1
            continue
        number = int(found[1] + found[2])
        clipped = min(max(number, -(2**63)), 2**63 - 1)
        values[k], status[k] = clipped, 2 * (number != clipped)
    return {"values": values, "status": status}
