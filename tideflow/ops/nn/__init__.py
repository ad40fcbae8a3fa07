"""Layers of neural networks: activations, convolutions, pools, normalizations, recurrent cells, losses."""
