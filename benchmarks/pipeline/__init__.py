"""The pipeline measured beside TFDV, TFT and TFMA."""
