import numpy as np


TOLERANCE = {"values": (0, 0)}

PRIME = 998244353


def make_inputs(rng, transforms, log_length, length, values="random"):
    coefficients = rng.integers(0, PRIME, (transforms, length))
    if values == "edges":  # unit vectors, constants, and the largest residues
        coefficients[0::3] = 0
        coefficients[0::3, rng.integers(0, length)] = 1
        coefficients[1::3] = PRIME - 1
    return {
        "sizes": np.array([transforms, log_length], dtype=np.int32),
        "coefficients": coefficients.astype(np.uint32),
    }


def transform(x):
    """The transform over the last axis from those of its even and odd entries."""
    length = x.shape[-1]
    if length == 1:
        return x
    even, odd = transform(x[..., ::2]), transform(x[..., 1::2])
    root = pow(3, (PRIME - 1) // length, PRIME)
    turned = np.array([pow(root, k, PRIME) for k in range(length // 2)], dtype=np.uint64) * odd % PRIME
    return np.concatenate([(even + turned) % PRIME, (even + PRIME - turned) % PRIME], axis=-1)


def reference(inputs):
    return {"values": transform(inputs["coefficients"].astype(np.uint64)).astype(np.uint32)}
