import numpy as np


TOLERANCE = {"x": (0, 0)}


def make_inputs(rng, height, width, values="image"):
    bands = rng.normal(0.0, 30.0, (height, width))
    bands[: (height + 1) // 2] = 800.0 + 200.0 * np.sin(np.arange((height + 1) // 2)[:, None] / 9.0)
    if values == "extremes":
        bands = rng.choice([-32768, -3, -2, -1, 0, 1, 32767], (height, width))
    sizes = np.array([height, width], dtype=np.int32)
    return {"sizes": sizes, "bands": np.rint(bands).astype(np.int16)}


def reference(inputs):
    bands = inputs["bands"].astype(np.int64)
    evens = (len(bands) + 1) // 2
    smooth, detail = bands[:evens], bands[evens:]
    before = np.concatenate([detail[:1], detail])[:evens]
    after = np.concatenate([detail, detail[-1:]])[:evens]
    x = np.empty_like(bands)
    x[0::2] = smooth - ((before + after + 2) >> 2)
    following = np.concatenate([x[2::2], x[(evens - 1) * 2 : (evens - 1) * 2 + 1]])[: len(detail)]
    x[1::2] = detail + ((x[0::2][: len(detail)] + following) >> 1)
    return {"x": x.astype(np.int32)}
