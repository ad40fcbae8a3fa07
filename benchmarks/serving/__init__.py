"""Serving: Clipper's experiments, with plots, and throughput beside other servers."""
