"""Speed and memory of Tideflow beside TensorFlow, PyTorch and JAX, in one run: `python -m benchmarks`."""
