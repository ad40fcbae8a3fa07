"""How GPUs compute: the precision of float32 products, and the choice of convolution algorithms."""

from __future__ import annotations

import os

import torch

_OFF = ("0", "false")


def set_tensor_float_32(enabled: bool) -> None:
    """Sets whether matrix products and convolutions of float32 round their inputs to TF32's 10-bit mantissas,
    for many times the speed. `NVIDIA_TF32_OVERRIDE=0` is stronger: it forbids them.
    """
    allowed = enabled and os.environ.get("NVIDIA_TF32_OVERRIDE") != "0"
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def tensor_float_32() -> bool:
    """Whether float32 products may round their inputs to TF32."""
    return bool(torch.backends.cuda.matmul.allow_tf32)


def be_deterministic() -> None:
    """Asks for kernels that give the same bits in every run, in full precision."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    set_tensor_float_32(False)


# As TensorFlow has done since 2.4. cuDNN tries its algorithms at the first convolution of each size, and
# keeps the fastest.
set_tensor_float_32(True)
torch.backends.cudnn.benchmark = os.environ.get("TF_CUDNN_USE_AUTOTUNE", "1").lower() not in _OFF
