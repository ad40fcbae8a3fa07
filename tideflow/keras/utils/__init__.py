"""Helpers around models."""
