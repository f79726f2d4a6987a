import numpy as np


TOLERANCE = {"stream": (0, 0), "final_state": (0, 0)}

MULTIPLIER = 6364136223846793005
INCREMENT = 1442695040888963407


def make_inputs(rng, n, seed="random"):
    start = rng.integers(0, 2**64, 1, dtype=np.uint64)
    if seed == "largest":
        start[:] = 2**64 - 1
    return {"sizes": np.array([n], dtype=np.int32), "seed": start}


def reference(inputs):
    # One state after the other, in Python's integers: nothing of the parallel scheme is shared.
    state, states = int(inputs["seed"][0]), []
    for _ in range(int(inputs["sizes"][0])):
        state = (MULTIPLIER * state + INCREMENT) & 0xFFFFFFFFFFFFFFFF
        states.append(state)
    stream = (np.array(states, dtype=np.uint64) >> np.uint64(32)).astype(np.uint32)
    return {"stream": stream, "final_state": np.array([state], dtype=np.uint64)}
