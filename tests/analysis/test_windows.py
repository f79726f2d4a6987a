"""Windows against slices, one by one."""

import numpy as np
import pytest

from cuset_stage.analysis.distribution import READINGS, windows


@pytest.mark.parametrize("value", [1.0, 1 - 2**-24, 0.1, 1e-300, 0.0])
def test_means_of_sure_tokens_stay_in_range(value):
    rng = np.random.default_rng(0)
    for size in (1, 3, 64, 255):
        confidence = np.concatenate([rng.random(500), np.full(2000, value)])
        means = windows(confidence, size).means
        assert means.min() >= 0 and means.max() <= 1
        np.testing.assert_allclose(means[-1700:], value, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("tokens", "window"), [(200, 64), (65, 64), (64, 64), (63, 64), (1, 64), (30, 7), (9, 1)])
def test_every_window_against_its_slice(tokens, window):
    rng = np.random.default_rng(tokens)
    confidence, mask = rng.random(tokens), rng.random(tokens) < 0.3
    found = windows(confidence, window)
    size = min(tokens, window)
    starts = range(tokens - size + 1)
    assert found.size == size
    np.testing.assert_allclose(found.means, [confidence[s : s + size].mean() for s in starts], rtol=1e-12)
    expected = {
        "centre": [mask[s + size // 2] for s in starts],
        "majority": [mask[s : s + size].sum() > size / 2 for s in starts],
        "any": [mask[s : s + size].any() for s in starts],
    }
    for reading, on in zip(READINGS, found.on(mask), strict=True):
        assert on.tolist() == [bool(value) for value in expected[reading]]
