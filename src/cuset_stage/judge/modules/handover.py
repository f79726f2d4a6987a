"""How the bytes of a tensor are masked and digested, on the host; handover.cu does the same on a GPU. For the judge and for worker.py.

A mask is XORed to an input, so that the process which holds the answer can have the input on its GPU and not know it before the
clock runs: the stream of Philox4x64-10 under a key of 16 bytes, as NumPy has it, with the tensor's number in the counter.

A digest pins an output down, all of it: pieces of 512 bytes are hashed (BLAKE2s), then the hashes together in the same way, until
one is left. Nobody finds another output, within a tolerance or not, that has the digest sent earlier.
"""

import hashlib

import numpy as np


KEY_BYTES, SEED_BYTES, DIGEST_BYTES = 16, 8, 32
PIECE = 512
CHUNK = 1 << 24


class Mask:
    """The stream of one tensor; `apply` goes on where it stopped."""

    def __init__(self, key: bytes, number: int) -> None:
        words = np.frombuffer(key, "<u8")
        self._stream = np.random.Philox(key=words, counter=[0, 0, 0, number])

    def apply(self, data: np.ndarray) -> None:
        """Mask or unmask uint8 in place; a multiple of 8 bytes, but for the last call."""
        for start in range(0, data.size, CHUNK):
            part = data[start : start + CHUNK]
            part ^= self._stream.random_raw((part.size + 7) // 8).astype("<u8", copy=False).view(np.uint8)[: part.size]


def digest(data: bytes | memoryview | np.ndarray) -> bytes:
    """32 bytes."""
    data = memoryview(data)
    while True:
        hashes = [hashlib.blake2s(data[at : at + PIECE]).digest() for at in range(0, max(1, len(data)), PIECE)]
        if len(hashes) == 1:
            return hashes[0]
        data = memoryview(b"".join(hashes))
