"""Time the calls of a module: `python clock.py FD`.

This runs as a process of its own on the judge's side, so that no thread of the judge can disturb the measurement.

FD is the judge's socket to the process that holds the module. Each line of stdin is one call. It has the key and the
seed, in hexadecimal and without a space between them, and then the maximum number of seconds to wait. The clock runs
from sending the key until the digest has arrived. For each call, a line with the seconds and the digest is written to
stdout. The digest is too short if the process ended or did not answer in time.
"""

import gc
import select
import socket
import sys
import time


DIGEST_BYTES = 32
SPIN_S = 0.05  # poll for so long, because waking up from select takes time; after that, use select


def call(channel, key, patience):
    """Send the key and wait at most `patience` seconds for the digest. Return the seconds taken and the digest."""
    digest, start = b"", time.perf_counter()
    channel.sendall(key)
    while len(digest) < DIGEST_BYTES:
        elapsed = time.perf_counter() - start
        try:
            if elapsed > SPIN_S and not select.select([channel], [], [], max(0.0, patience - elapsed))[0]:
                break
            piece = channel.recv(DIGEST_BYTES - len(digest), socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        if not piece:
            break
        digest += piece
    return time.perf_counter() - start, digest


def main():
    gc.disable()  # a collection during a call would be measured
    channel = socket.socket(fileno=int(sys.argv[1]))
    for line in sys.stdin:
        key, patience = line.split()
        try:
            seconds, digest = call(channel, bytes.fromhex(key), float(patience))
        except OSError:
            seconds, digest = 0.0, b""
        print(seconds, digest.hex() or "-", flush=True)


if __name__ == "__main__":
    main()
