import numpy as np


TOLERANCE = {"samples": (0, 0)}


def make_inputs(rng, blocks, bytes, values="noise"):
    # Low nibbles of small magnitude keep the step index moving up and down.
    low, high = rng.choice(8, (2, blocks, bytes), p=[0.2, 0.2, 0.15, 0.12, 0.12, 0.1, 0.06, 0.05])
    sign = rng.integers(0, 2, (2, blocks, bytes)) * 8
    codes = (low | sign[0]) | (high | sign[1]) << 4
    if values == "saturating":  # runs of the largest codes with one sign, and silence
        codes = np.repeat(rng.choice([0x77, 0xFF, 0x00, 0x88], (blocks, bytes // 10 + 1)), 10, axis=1)[:, :bytes]
    steps = [7]
    while len(steps) < 89:  # nearly geometric, as the standard's table
        steps.append(min(32767, steps[-1] + max(1, steps[-1] // 10)))
    return {
        "sizes": np.array([blocks, bytes], dtype=np.int32),
        "codes": codes.astype(np.uint8),
        "predictor": rng.integers(-30000, 30001, blocks).astype(np.int16),
        "state": rng.integers(0, 89, blocks).astype(np.uint8),
        "steps": np.array(steps, dtype=np.int32),
    }


def reference(inputs):
    codes, steps = inputs["codes"], inputs["steps"].astype(np.int64)
    change = np.array([-1, -1, -1, -1, 2, 4, 6, 8])
    value, state = inputs["predictor"].astype(np.int64), inputs["state"].astype(np.int64)
    samples = np.empty((2 * codes.shape[1], len(codes)), dtype=np.int16)
    for t in range(2 * codes.shape[1]):
        code = (codes[:, t // 2] >> (4 * (t % 2)) & 15).astype(np.int64)
        step = steps[state]
        difference = (step >> 3) + step * (code >> 2 & 1) + (step >> 1) * (code >> 1 & 1) + (step >> 2) * (code & 1)
        value = np.clip(np.where(code & 8, value - difference, value + difference), -32768, 32767)
        state = np.clip(state + change[code & 7], 0, 88)
        samples[t] = value
    return {"samples": np.ascontiguousarray(samples.T)}
