"""Tensors that are not a full grid: sparse tensors, sets and ragged tensors."""
