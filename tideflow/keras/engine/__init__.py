"""Models: graphs of layers, how they are trained and evaluated, and what they are made of."""
