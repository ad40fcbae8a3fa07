"""Programs written for TensorFlow, as they are: running them, looking into them, and what of TensorFlow is
there.
"""
