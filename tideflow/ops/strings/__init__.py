"""Strings: bytes and text, one by one, joined, split, hashed, matched, compared."""
