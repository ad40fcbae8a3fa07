"""Random forests as ops: trees that grow with the examples they see."""
