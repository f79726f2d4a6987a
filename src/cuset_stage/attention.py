"""torch's cuDNN attention, switched off where it is known to be wrong. Imports torch when used.

From torch 2.9 on, `scaled_dot_product_attention` prefers cuDNN on compute capability 9.x and 10.x (pytorch#162073). Upstream reports:

- 9.x (H100, H200): the backward pass gives NaN where a mask is passed, as with padding and packing, the length is 64 more than a
  multiple of 128, and a row's logits are far below 0, as in the first layers of Qwen2.5. torch 2.11 with cuDNN 9.19 (measured here)
  and 2.13 with 9.20 (pytorch#196678, trl#7181); pytorch#196861 guards every cuDNN up to 9.25.1. With cuDNN 9.26 a sibling is open
  (cudnn-frontend#1072). torch 2.5 preferred it as well, and training diverged (pytorch#139298, diffusers#9768).
- 10.x (B200 and others): decoding gives wrong tokens where a model has fewer than 8 key-value heads, torch 2.11 and 2.13
  (pytorch#193893); pytorch#194927 guards cuDNN 9.19 and later.

No later version has been proved good on either, so the version of torch does not enter the decision. Elsewhere torch takes cuDNN last,
and nothing is switched.
"""

import os
from typing import Any


KEY = "cuset_cudnn_attention"
VARIABLE = "CUSET_CUDNN_ATTENTION"
OFF_IN_SFT = {"TORCH_CUDNN_SDPA_DEPRIORITIZED": "1"}  # torch 2.11 and later read it when they choose a backend first
FAULTS = {  # by the major compute capability
    9: "gives NaN gradients for padded and packed rows (pytorch#196678)",
    10: "decodes wrong tokens for models with few key-value heads (pytorch#193893)",
}


def is_wanted() -> bool:
    """Whether the environment variable CUSET_CUDNN_ATTENTION keeps the backend on."""
    return os.environ.get(VARIABLE, "").strip().lower() in ("1", "true", "yes", "on")


def capabilities(device: Any) -> list[tuple[int, int]]:
    """The compute capabilities of the NVIDIA GPUs that torch sees; none for a device other than CUDA, nor in torch for AMD's GPUs.

    device: a torch.device or its name.
    """
    import torch

    if torch.device(device).type != "cuda" or torch.version.cuda is None:
        return []
    return sorted({torch.cuda.get_device_capability(index) for index in range(torch.cuda.device_count())})


def known_fault(device: Any) -> str | None:
    """What is wrong with cuDNN attention on one of the GPUs; None: nothing is known, or the model's device is another."""
    wrong = [capability for capability in capabilities(device) if capability[0] in FAULTS]
    return f"on compute capability {wrong[0][0]}.{wrong[0][1]} it {FAULTS[wrong[0][0]]}" if wrong else None


def switch(device: Any, keep: bool = False) -> str | None:
    """Turn torch's cuDNN attention off in this process where it is wrong, or on again with `keep` or CUSET_CUDNN_ATTENTION.

    device: of the model, as in `capabilities`.
    Returns a sentence for the log when the backend was switched off, or stays on in spite of a known fault.
    """
    import torch

    fault = known_fault(device)
    if fault is None:
        return None
    was_on, is_on = torch.backends.cuda.cudnn_sdp_enabled(), keep or is_wanted()
    torch.backends.cuda.enable_cudnn_sdp(is_on)
    if is_on:
        return f"torch's cuDNN attention is on, as {KEY} or {VARIABLE} asks, although {fault}."
    return f"torch's cuDNN attention is off: {fault}. {KEY}: true or {VARIABLE}=1 turns it on." if was_on else None


def suspicion(device: Any) -> str | None:
    """That cuDNN attention may have made numbers NaN, and the fix; None where it is off, or is not known to be wrong."""
    import torch

    fault = known_fault(device) if torch.backends.cuda.cudnn_sdp_enabled() else None
    return fault and f"torch's cuDNN attention is on, and {fault}: remove {KEY}: true and unset {VARIABLE}"
