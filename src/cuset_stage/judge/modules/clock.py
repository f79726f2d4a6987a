"""Times the calls of a module: `python clock.py FD`, a process of the judge's own, where none of its threads comes between.

FD is the judge's socket to the process that holds the module. Each line of stdin, a key and a seed in hexadecimal and the seconds to wait at
most, is one call: the clock runs from when the key is sent until the digest has come. A line of stdout says the seconds and the digest,
which is too short where the process ended, or did not answer in time.
"""

import gc
import select
import socket
import sys
import time


DIGEST_BYTES = 32
SPIN_S = 0.05  # asked again and again, as waking up takes time; after that, select


def call(channel, key, patience):
    found, begin = b"", time.perf_counter()
    channel.sendall(key)
    while len(found) < DIGEST_BYTES:
        passed = time.perf_counter() - begin
        try:
            if passed > SPIN_S and not select.select([channel], [], [], max(0.0, patience - passed))[0]:
                break
            piece = channel.recv(DIGEST_BYTES - len(found), socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        if not piece:
            break
        found += piece
    return time.perf_counter() - begin, found


def main():
    gc.disable()
    channel = socket.socket(fileno=int(sys.argv[1]))
    for line in sys.stdin:
        key, patience = line.split()
        try:
            seconds, found = call(channel, bytes.fromhex(key), float(patience))
        except OSError:
            seconds, found = 0.0, b""
        print(seconds, found.hex() or "-", flush=True)


if __name__ == "__main__":
    main()
