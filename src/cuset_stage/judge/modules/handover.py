"""Mask and digest the bytes of a tensor on the host. handover.cu does the same on a GPU.

Both the judge and worker.py use this module.

A mask is XORed to an input. The process that holds the answer can then have the input on its GPU without knowing it
before the clock runs. The mask is the stream of Philox4x64-10, as NumPy implements it, with a key of 16 bytes and the
tensor's number in the counter.

A digest commits to a whole output. Pieces of 512 bytes are hashed with BLAKE2s, then the concatenated hashes are
hashed in the same way, until one hash is left. After a digest was sent, nobody can find another output with the same
digest, whether within the tolerance or not.
"""

import hashlib

import numpy as np


KEY_BYTES, SEED_BYTES, DIGEST_BYTES = 16, 8, 32
PIECE = 512
CHUNK = 1 << 24


class Mask:
    """The mask of one tensor. Each call of `apply` continues the stream where the last one stopped.

    Args:
        key: The key, 16 bytes.
        number: Number of the tensor.
    """

    def __init__(self, key: bytes, number: int) -> None:
        words = np.frombuffer(key, "<u8")
        self._stream = np.random.Philox(key=words, counter=[0, 0, 0, number])

    def apply(self, data: np.ndarray) -> None:
        """Mask or unmask bytes in place.

        Args:
            data: Array of uint8. Its size must be a multiple of 8, except in the last call.
        """
        for start in range(0, data.size, CHUNK):
            part = data[start : start + CHUNK]
            part ^= self._stream.random_raw((part.size + 7) // 8).astype("<u8", copy=False).view(np.uint8)[: part.size]


def digest(data: bytes | memoryview | np.ndarray) -> bytes:
    """Return the digest of some bytes, 32 bytes long."""
    data = memoryview(data)
    while True:
        hashes = [hashlib.blake2s(data[at : at + PIECE]).digest() for at in range(0, max(1, len(data)), PIECE)]
        if len(hashes) == 1:
            return hashes[0]
        data = memoryview(b"".join(hashes))
