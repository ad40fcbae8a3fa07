"""Matrices: products, decompositions, equations, spectra and functions of a matrix."""
