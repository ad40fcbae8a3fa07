# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str

def crelu(labeled_tensor, name: _str | None = None):
    """Computes `crelu` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def elu(labeled_tensor, name: _str | None = None):
    """Computes `elu` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def l2_loss(labeled_tensor, name: _str | None = None):
    """Computes `l2_loss` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def log_softmax(labeled_tensor, name: _str | None = None):
    """Computes `log_softmax` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def relu(labeled_tensor, name: _str | None = None):
    """Computes `relu` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def relu6(labeled_tensor, name: _str | None = None):
    """Computes `relu6` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def sigmoid_cross_entropy_with_logits(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `sigmoid_cross_entropy_with_logits` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def softmax(labeled_tensor, name: _str | None = None):
    """Computes `softmax` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def softmax_cross_entropy_with_logits(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `softmax_cross_entropy_with_logits` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def softplus(labeled_tensor, name: _str | None = None):
    """Computes `softplus` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def sparse_softmax_cross_entropy_with_logits(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `sparse_softmax_cross_entropy_with_logits` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""
