import numpy as np


TOLERANCE = {"best": (0, 0)}


def make_inputs(rng, strings, length, values="letters"):
    text = rng.integers(97, 99, (strings, length), dtype=np.uint8)
    half = text[::2, : length // 2]
    text[::2, length - length // 2 :] = half[:, ::-1]
    text[::4, rng.integers(length)] += 5
    if values == "uniform":
        text[:] = 120
        text[1::2, -1] = 121
    return {"sizes": np.array([strings, length], dtype=np.int32), "text": text}


def reference(inputs):
    best = []
    for row in inputs["text"]:
        n = row.size
        spread = np.full(2 * n + 1, 256)
        spread[1::2] = row
        spread = spread.tolist()
        radius, centre, right = [0] * len(spread), 0, 0  # Manacher's algorithm on the string with gaps
        for i in range(len(spread)):
            r = min(radius[2 * centre - i], right - i) if i < right else 0
            while i - r > 0 and i + r + 1 < len(spread) and spread[i - r - 1] == spread[i + r + 1]:
                r += 1
            radius[i] = r
            if i + r > right:
                centre, right = i, i + r
        longest = max(radius)
        best.append([(radius.index(longest) - longest) // 2, longest])
    return {"best": np.array(best, dtype=np.int32)}
