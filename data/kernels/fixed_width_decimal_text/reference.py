import numpy as np


TOLERANCE = {"text": (0, 0)}


def make_inputs(rng, numbers, decimals, values="any"):
    drawn = rng.integers(-(2**62), 2**62, numbers) >> rng.integers(0, 62, numbers)
    if values == "extreme":
        drawn = rng.choice(np.array([0, -1, 1, 9, 10, -10, 99999999, 2**63 - 1, -(2**63), -(10**9)]), numbers)
    return {"sizes": np.array([numbers, decimals], dtype=np.int32), "values": drawn.astype(np.int64)}


def reference(inputs):
    decimals = int(inputs["sizes"][1])
    rows = []
    for value in inputs["values"].tolist():
        digits = str(abs(value)).rjust(decimals + 1, "0")
        sign = "-" if value < 0 else ""
        rows.append(f"{sign}{digits[:-decimals]}.{digits[-decimals:]}".rjust(23) + "\n")
    return {"text": np.frombuffer("".join(rows).encode(), dtype=np.uint8).reshape(-1, 24).copy()}
