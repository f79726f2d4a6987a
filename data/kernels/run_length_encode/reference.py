import numpy as np


TOLERANCE = {"run_symbols": (0, 0), "run_lengths": (0, 0), "run_count": (0, 0)}


def make_inputs(rng, n, runs="geometric"):
    # Neighbouring draws can be equal, which makes some runs longer.
    symbols = np.repeat(rng.integers(-3, 4, n // 2 + 8), rng.geometric(0.3, n // 2 + 8))[:n]
    if runs == "one run, then singles":
        symbols = np.arange(n) - 2**31
        symbols[: n // 2] = 2**31 - 1
    return {"sizes": np.array([n], dtype=np.int32), "symbols": symbols.astype(np.int32)}


def reference(inputs):
    symbols = inputs["symbols"]
    starts = np.flatnonzero(np.concatenate([[True], symbols[1:] != symbols[:-1]]))
    run_symbols, run_lengths = np.zeros_like(symbols), np.zeros_like(symbols)
    run_symbols[: starts.size] = symbols[starts]
    run_lengths[: starts.size] = np.diff(starts, append=symbols.size)
    return {
        "run_symbols": run_symbols,
        "run_lengths": run_lengths,
        "run_count": np.array([starts.size], dtype=np.int32),
    }
