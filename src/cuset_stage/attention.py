"""Switch off torch's cuDNN attention on GPUs where it is known to compute wrong results.

From torch 2.9 on, `scaled_dot_product_attention` prefers cuDNN on compute capability 9.x and 10.x (pytorch#162073).
Upstream reports:

- 9.x (H100, H200): the backward pass gives NaN when three things come together: a mask is passed, as with padding and
  packing; the length is 64 more than a multiple of 128; and a row's logits are far below 0, as in the first layers of
  Qwen2.5. This affects torch 2.11 with cuDNN 9.19 (measured here) and torch 2.13 with cuDNN 9.20 (pytorch#196678,
  trl#7181). pytorch#196861 guards every cuDNN up to 9.25.1. A related fault with cuDNN 9.26 is still open
  (cudnn-frontend#1072). torch 2.5 preferred cuDNN as well, and training diverged (pytorch#139298, diffusers#9768).
- 10.x (B200 and others): decoding gives wrong tokens for models with fewer than 8 key-value heads, in torch 2.11 and
  2.13 (pytorch#193893). pytorch#194927 guards cuDNN 9.19 and later.

No later version has been proved correct on either, so the decision does not depend on the version of torch. On other
GPUs, torch takes cuDNN as the last choice, and nothing is switched. torch is imported only when a function needs it.
"""

import os
from typing import Any


KEY = "cuset_cudnn_attention"
VARIABLE = "CUSET_CUDNN_ATTENTION"
# An environment variable that torch 2.11 and later read when they choose a backend for the first time.
OFF_IN_SFT = {"TORCH_CUDNN_SDPA_DEPRIORITIZED": "1"}
FAULTS = {  # major compute capability -> the fault
    9: "gives NaN gradients for padded and packed rows (pytorch#196678)",
    10: "decodes wrong tokens for models with few key-value heads (pytorch#193893)",
}


def is_wanted() -> bool:
    """Return whether the environment variable CUSET_CUDNN_ATTENTION keeps the backend on."""
    return os.environ.get(VARIABLE, "").strip().lower() in ("1", "true", "yes", "on")


def capabilities(device: Any) -> list[tuple[int, int]]:
    """Return the compute capabilities of the NVIDIA GPUs that torch sees, as sorted (major, minor) pairs.

    Args:
        device: the model's torch.device, or its name.

    Returns:
        An empty list if the device is not a CUDA device, or if torch was built for AMD's GPUs.
    """
    import torch

    if torch.device(device).type != "cuda" or torch.version.cuda is None:
        return []
    return sorted({torch.cuda.get_device_capability(index) for index in range(torch.cuda.device_count())})


def known_fault(device: Any) -> str | None:
    """Return what is known to be wrong with cuDNN attention on one of the GPUs.

    Args:
        device: the model's device, as in `capabilities`.

    Returns:
        A part of a sentence, or None if no fault is known or the model is not on an NVIDIA GPU.
    """
    faulty = [capability for capability in capabilities(device) if capability[0] in FAULTS]
    return f"on compute capability {faulty[0][0]}.{faulty[0][1]} it {FAULTS[faulty[0][0]]}" if faulty else None


def switch(device: Any, keep: bool = False) -> str | None:
    """Turn torch's cuDNN attention off in this process where it is known to be wrong.

    With `keep` or CUSET_CUDNN_ATTENTION it is turned on again instead.

    Args:
        device: the model's device, as in `capabilities`.
        keep: keep the backend on in spite of a known fault.

    Returns:
        A sentence for the log when the backend was switched off, or when it stays on in spite of a known fault.
        Otherwise None.
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
    """Return a sentence saying that cuDNN attention may be the cause of NaN values, with the fix.

    Args:
        device: the model's device, as in `capabilities`.

    Returns:
        None if the backend is off, or is not known to be wrong.
    """
    import torch

    fault = known_fault(device) if torch.backends.cuda.cudnn_sdp_enabled() else None
    return fault and f"torch's cuDNN attention is on, and {fault}: remove {KEY}: true and unset {VARIABLE}"
