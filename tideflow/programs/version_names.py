"""`tensorflow.python.tf2`: which of TensorFlow's two behaviours a program has."""


def enabled() -> bool:
    """Whether it is TensorFlow 2's: never."""
    return False
