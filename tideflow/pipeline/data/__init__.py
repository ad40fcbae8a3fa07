"""Data in: sources of blocks, spans of files, splits by hash, and faulty rows set aside."""
