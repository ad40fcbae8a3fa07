"""The server's fixtures, for models that are tried and pushed."""

from tests.serving.conftest import save_linear, serving_loop, workers

__all__ = ["save_linear", "serving_loop", "workers"]
