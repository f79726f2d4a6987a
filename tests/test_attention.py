"""torch's cuDNN attention: where it is off, that torch's own flag says so, and who switches it."""

import pytest
import torch

from cuset_stage import attention


@pytest.fixture
def on(monkeypatch):
    """A function that makes the GPUs here have a compute capability; torch's flag is as torch starts with it."""
    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(True)
    monkeypatch.delenv(attention.VARIABLE, raising=False)
    yield lambda *found: monkeypatch.setattr(attention, "capabilities", lambda device: list(found))
    torch.backends.cuda.enable_cudnn_sdp(before)


SINGLE = [(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (10, 3), (11, 0), (12, 0), (12, 1)]


@pytest.mark.parametrize("others, capability", [*(((), one) for one in SINGLE), ([(8, 0)], (9, 0))])
def test_it_is_off_where_upstream_says_it_is_wrong_and_nowhere_else(on, others, capability):
    """One GPU that is wrong among others is enough."""
    on(*others, capability)
    said = attention.switch("cuda")
    is_wrong = capability[0] in (9, 10)
    assert torch.backends.cuda.cudnn_sdp_enabled() != is_wrong
    assert (attention.known_fault("cuda") is not None) == (said is not None) == is_wrong
    if is_wrong:
        assert "is off: on compute capability {}.{} ".format(*capability) in said and "pytorch#" in said
        assert attention.switch("cuda") is None  # once is enough
        assert attention.suspicion("cuda") is None


@pytest.mark.parametrize("value", ["1", "true", "ON"])
def test_the_key_and_the_variable_turn_it_on_again(on, monkeypatch, value):
    on((9, 0))
    attention.switch("cuda")
    assert "is on" in attention.switch("cuda", keep=True) and torch.backends.cuda.cudnn_sdp_enabled()
    attention.switch("cuda")
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    monkeypatch.setenv(attention.VARIABLE, value)
    assert "although on compute capability 9.0" in attention.switch("cuda")
    assert torch.backends.cuda.cudnn_sdp_enabled() and attention.VARIABLE in attention.suspicion("cuda")
    monkeypatch.setenv(attention.VARIABLE, "0")
    assert attention.switch("cuda") and not torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.parametrize("device", ["cpu", torch.device("cpu"), "xpu:0", "mps"])
def test_other_devices_are_left_alone(monkeypatch, device):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda index: (9, 0))
    assert attention.capabilities(device) == [] and attention.switch(device) is None
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert attention.capabilities("cuda:0") == [(9, 0)]
    monkeypatch.setattr(torch.version, "cuda", None)  # AMD's gfx90a calls itself 9.0
    assert attention.capabilities("cuda:0") == []


def test_the_commands_switch_it_before_they_load_a_model(on, tiny_model, caplog):
    from cuset_stage.analysis.readers import open_reader
    from cuset_stage.analysis.requests import ModelRequest
    from cuset_stage.generate.hf import HFBackend
    from cuset_stage.generate.settings import RecordedSettings
    from cuset_stage.stage.loading import open_tokenizer

    on((9, 0))
    tokenizer = open_tokenizer(str(tiny_model))
    torch.backends.cuda.enable_cudnn_sdp(True)
    open_reader(ModelRequest(model=str(tiny_model)), tokenizer, "cpu")  # analyze, heatmap and pairs
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(True)
    HFBackend(RecordedSettings(backend="hf", model=str(tiny_model), template="qwen"), batch_size=1)
    assert not torch.backends.cuda.cudnn_sdp_enabled() and "cuDNN attention is off" in caplog.text
