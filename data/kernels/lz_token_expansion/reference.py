import numpy as np


TOLERANCE = {"text": (0, 0), "used": (0, 0)}


def make_inputs(rng, streams, tokens, room, values="mixed"):
    literals = rng.integers(97, 123, (streams, tokens), dtype=np.uint8)
    lengths = np.zeros((streams, tokens), dtype=np.int64)
    distances = np.zeros((streams, tokens), dtype=np.int64)
    position = np.zeros(streams, dtype=np.int64)
    for k in range(tokens):
        longest = np.minimum(room - position - (tokens - k), 60 if values == "mixed" else 300)
        wanted = rng.integers(0, 2 * room // tokens + 2, streams) * (rng.random(streams) < 0.7)
        lengths[:, k] = np.where(position > 0, np.clip(wanted, 0, np.maximum(longest, 0)), 0)
        reach = np.minimum(position, 4 if values == "runs" else 4096)
        distances[:, k] = np.where(lengths[:, k] > 0, 1 + rng.integers(0, 2**31, streams) % np.maximum(reach, 1), 0)
        position += lengths[:, k] + 1
    if position.max() > room:
        raise ValueError("room is too small for one literal a token")
    return {
        "sizes": np.array([streams, tokens, room], dtype=np.int32),
        "literals": literals,
        "lengths": lengths.astype(np.uint16),
        "distances": distances.astype(np.uint16),
    }


def reference(inputs):
    streams, _, room = inputs["sizes"]
    text = np.zeros((streams, room), dtype=np.uint8)
    used = np.zeros(streams, dtype=np.int32)
    for row in range(streams):
        out = bytearray()
        tokens = zip(*(inputs[key][row].tolist() for key in ("lengths", "distances", "literals")), strict=True)
        for length, distance, literal in tokens:
            if length:
                period = bytes(out[-distance:])
                out += (period * (length // distance + 1))[:length]
            out.append(literal)
        text[row, : len(out)] = np.frombuffer(bytes(out), dtype=np.uint8)
        used[row] = len(out)
    return {"text": text, "used": used}
