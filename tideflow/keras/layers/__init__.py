"""Keras's layers."""
