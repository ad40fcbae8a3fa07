"""Tensors as arrays: made, shaped, indexed, sliced, joined, repeated, sorted."""
