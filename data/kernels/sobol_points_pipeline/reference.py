import numpy as np


TOLERANCE = {"sequence": (0, 0)}


def make_inputs(rng, dims, points, values="triangular"):
    # Direction b has its lowest set bit at 31 - b, as Sobol's have; the bits above it are random.
    b = np.arange(32, dtype=np.uint64)
    drawn = rng.integers(0, 2**32, (dims, 32), dtype=np.uint64)
    directions = (((drawn & ((np.uint64(2) << b) - np.uint64(1))) | np.uint64(1)) << (np.uint64(31) - b)) % 2**32
    shift = rng.integers(0, 2**32, dims, dtype=np.uint64)
    if values == "arbitrary":  # any bits, van der Corput without a shift, only zeros, only ones
        directions = rng.integers(0, 2**32, (dims, 32), dtype=np.uint64)
        directions[0], shift[0] = np.uint64(1) << (np.uint64(31) - b), 0
        directions[1], shift[1] = 0, 2**32 - 1
        directions[2], shift[2] = 2**32 - 1, 0
    return {
        "sizes": np.array([dims, points], dtype=np.int32),
        "directions": directions.astype(np.uint32),
        "shift": shift.astype(np.uint32),
    }


def reference(inputs):
    points = int(inputs["sizes"][1])
    bits = inputs["shift"][:, None]
    # Reflected Gray code: the second half of 2**(b + 1) codes is the first half backwards, with bit b set.
    b = 0
    while bits.shape[1] < points:
        bits = np.concatenate([bits, bits[:, ::-1] ^ inputs["directions"][:, b, None]], axis=1)
        b += 1
    return {"sequence": ((bits[:, :points] >> 8) * 2.0**-24).astype(np.float32)}
