import numpy as np


# Bytes are only moved: exact.
TOLERANCE = {"ids": (0, 0), "kinds": (0, 0), "offsets": (0, 0), "values": (0, 0)}


def make_inputs(rng, records):
    packets = np.zeros((records, 12), dtype=np.uint8)
    packets[:, :8] = rng.integers(0, 256, (records, 8))
    values = (rng.normal(0, 1, records) * 10.0 ** rng.integers(-6, 7, records)).astype(">f4")
    packets[:, 8:] = values.view(np.uint8).reshape(records, 4)
    return {"packets": packets}


def reference(inputs):
    p = inputs["packets"]

    def field(a, b, kind):
        return np.ascontiguousarray(p[:, a:b]).view(kind)[:, 0]

    return {
        "ids": field(0, 4, ">u4").astype(np.uint32),
        "kinds": field(4, 6, ">u2").astype(np.int32),
        "offsets": field(6, 8, ">i2").astype(np.int32),
        "values": field(8, 12, ">f4").astype(np.float32),
    }
