import numpy as np


TOLERANCE = {"dump": (0, 0)}


def make_inputs(rng, bytes, values="any"):
    data = rng.integers(0, 256, bytes)
    if values == "text":  # around both ends of the printable range
        data = rng.choice([0x1F, 0x20, 0x7E, 0x7F, 0x80, 0x41, 0x0A, 0xFF], bytes)
    return {"sizes": np.array([bytes], dtype=np.int32), "data": data.astype(np.uint8)}


def reference(inputs):
    data = inputs["data"]
    lines = -(-data.size // 16)
    digits = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    dump = np.full((lines, 79), ord(" "), dtype=np.uint8)
    offsets = 16 * np.arange(lines)
    for k in range(8):
        dump[:, k] = digits[offsets >> (28 - 4 * k) & 15]
    cells = np.zeros(16 * lines, dtype=np.uint8)
    cells[: data.size] = data
    cells = cells.reshape(lines, 16)
    there = np.arange(16 * lines).reshape(lines, 16) < data.size
    shown = np.where((cells >= 0x20) & (cells <= 0x7E), cells, ord("."))
    for k in range(16):
        column = 10 + 3 * k + (k >= 8)
        dump[:, column] = np.where(there[:, k], digits[cells[:, k] >> 4], ord(" "))
        dump[:, column + 1] = np.where(there[:, k], digits[cells[:, k] & 15], ord(" "))
        dump[:, 61 + k] = np.where(there[:, k], shown[:, k], ord(" "))
    dump[:, 60] = dump[:, 77] = ord("|")
    dump[:, 78] = ord("\n")
    return {"dump": dump}
