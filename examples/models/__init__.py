"""The models of the TensorFlow paper's evaluation. `python -m examples.models --help` trains one."""
