import numpy as np


TOLERANCE = {"units": (0, 0), "counts": (0, 0)}


def make_inputs(rng, records, width, values="mixed"):
    letters = "abcdefg \u00e4\u00ff\u0416\u05d0\u4e2d\u8a9e\ud7ff\uffff\U0001f600\U0010ffff\U00010000"
    if values == "wide":
        letters = "\U0001f600\U0010ffff\u4e2d"
    choices = [c.encode() for c in letters]
    text, lengths = np.full((records, width), 0xFF, dtype=np.uint8), np.zeros(records, dtype=np.int32)
    for row in range(records):
        data, limit = bytearray(), rng.integers(0, width + 1) if row else width
        for k in rng.integers(0, len(choices), width):
            if len(data) + len(choices[k]) > limit:
                break
            data += choices[k]
        text[row, : len(data)] = np.frombuffer(bytes(data), dtype=np.uint8)
        lengths[row] = len(data)
    return {"sizes": np.array([records, width], dtype=np.int32), "text": text, "lengths": lengths}


def reference(inputs):
    units = np.zeros(inputs["text"].shape, dtype=np.uint16)
    counts = np.zeros_like(inputs["lengths"])
    for k, (row, length) in enumerate(zip(inputs["text"], inputs["lengths"], strict=True)):
        wide = np.frombuffer(row[:length].tobytes().decode("utf-8").encode("utf-16-le"), dtype=np.uint16)
        units[k, : wide.size] = wide
        counts[k] = wide.size
    return {"units": units, "counts": counts}
