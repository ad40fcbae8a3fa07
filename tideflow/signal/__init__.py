"""tf.signal beyond the transforms: frames of signals, windows, spectrograms and what ears make of them."""

from tideflow.signal import framing, mel, spectrograms, windows  # noqa: F401
