"""Windows against slices, one by one."""

import numpy as np
import pytest

from cuset_stage.analysis.windows import READINGS, windows


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
