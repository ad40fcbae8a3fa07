"""Training steps of whole models on a GPU, beside PyTorch: `python -m benchmarks gpu`."""
