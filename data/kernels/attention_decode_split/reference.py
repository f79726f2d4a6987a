import numpy as np


TOLERANCE = {"context": (1e-3, 1e-5)}


def make_inputs(rng, kv_heads, group, positions, values="normal"):
    query = rng.normal(0.0, 3.0, (kv_heads * group, 128))
    keys = rng.normal(0.0, 1.0, (positions, kv_heads, 128))
    if values == "peaked":
        # In each group the first query gives one position all weight, by a score so far above the others that the exp
        # of the distance overflows: the last position, or the one before, which ends a full chunk. The very first
        # query weighs all positions alike.
        keys[-1, ::2] = 2.0 * query[::group][::2]
        keys[-2, 1::2] = 2.0 * query[::group][1::2]
        query[0] = 0.0
    return {
        "sizes": np.array([kv_heads, group, positions], dtype=np.int32),
        "query": query.astype(np.float32),
        "key_cache": keys.astype(np.float32),
        "value_cache": rng.normal(0.0, 1.0, keys.shape).astype(np.float32),
    }


def reference(inputs):
    keys, values = (inputs[name].astype(np.float64) for name in ("key_cache", "value_cache"))
    kv_heads = keys.shape[1]
    query = inputs["query"].astype(np.float64).reshape(kv_heads, -1, 128)
    scores = query @ keys.transpose(1, 2, 0) / np.sqrt(128.0)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    context = weights @ values.transpose(1, 0, 2)
    return {"context": context.reshape(-1, 128).astype(np.float32)}
