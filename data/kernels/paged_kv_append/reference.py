import numpy as np


TOLERANCE = {"updated_keys": (0, 0), "updated_values": (0, 0)}


def make_inputs(rng, tokens, heads, pages, page_size, pattern="scattered"):
    # A quarter of the tokens is padding; full: the tokens fill the cache to the last slot, and many are left over.
    capacity = pages * page_size
    used = capacity if pattern == "full" else min(capacity, tokens - tokens // 4)
    slots = np.full(tokens, -1)
    slots[rng.permutation(tokens)[:used]] = rng.permutation(capacity)[:used]
    arrays = {"new_keys": (tokens, heads, 64), "key_cache": (pages, heads, page_size, 64)}
    arrays |= {"new_values": arrays["new_keys"], "value_cache": arrays["key_cache"]}
    return {
        "sizes": np.array([tokens, heads, pages, page_size], dtype=np.int32),
        "slots": slots.astype(np.int32),
    } | {name: rng.integers(-2000, 2001, shape).astype(np.float16) for name, shape in arrays.items()}


def reference(inputs):
    kept = inputs["slots"] >= 0
    page, position = np.divmod(inputs["slots"][kept], inputs["sizes"][3])
    outputs = {"updated_keys": inputs["key_cache"].copy(), "updated_values": inputs["value_cache"].copy()}
    outputs["updated_keys"][page, :, position] = inputs["new_keys"][kept]
    outputs["updated_values"][page, :, position] = inputs["new_values"][kept]
    return outputs
