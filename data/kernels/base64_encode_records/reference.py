import base64

import numpy as np


TOLERANCE = {"encoded": (0, 0)}


def make_inputs(rng, records, width, values="any"):
    lengths = rng.integers(0, width + 1, records)
    if values == "any":
        lengths[: records // 2] = width
    return {
        "sizes": np.array([records, width], dtype=np.int32),
        "data": rng.integers(0, 256, (records, width), dtype=np.uint8),
        "lengths": lengths.astype(np.int32),
    }


def reference(inputs):
    data = inputs["data"]
    encoded = np.zeros((data.shape[0], 4 * ((data.shape[1] + 2) // 3)), dtype=np.uint8)
    for row, length, out in zip(data, inputs["lengths"], encoded, strict=True):
        text = base64.b64encode(row[:length].tobytes())
        out[: len(text)] = np.frombuffer(text, dtype=np.uint8)
    return {"encoded": encoded}
