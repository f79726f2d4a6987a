import numpy as np


TOLERANCE = {"prices": (1e-9, 1e-9), "durations": (1e-9, 1e-9), "convexities": (1e-9, 1e-9)}


def make_inputs(rng, bonds, flows, values="mixed"):
    inner = np.sort(rng.integers(0, flows + 1, bonds - 1))
    if values == "gaps":  # every other bond has no payment left
        inner = np.sort(np.repeat(inner[: (bonds - 1 + 1) // 2], 2)[: bonds - 1])
    offsets = np.concatenate([[0], inner, [flows]])
    return {
        "sizes": np.array([bonds, flows], dtype=np.int32),
        "offsets": offsets.astype(np.int32),
        "times": (rng.integers(1, 120, flows) * 0.25).astype(np.float32),
        "amounts": (rng.integers(1, 4000, flows) * 0.125).astype(np.float32),
        "yields": rng.uniform(-0.01, 0.12, bonds),
    }


def reference(inputs):
    offsets = inputs["offsets"]
    bonds = offsets.size - 1
    owner = np.repeat(np.arange(bonds), np.diff(offsets))
    times = inputs["times"].astype(np.float64)
    present = inputs["amounts"].astype(np.float64) * np.exp(-inputs["yields"][owner] * times)
    price, first, second = (np.bincount(owner, present * times**k, bonds) for k in (0, 1, 2))
    divisor = np.where(price > 0.0, price, 1.0)
    return {"prices": price, "durations": first / divisor, "convexities": second / divisor}
