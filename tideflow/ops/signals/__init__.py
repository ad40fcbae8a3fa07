"""Signals and sound: Fourier and cosine transforms, WAV files, spectrograms."""
