"""Passes over data: mergeable accumulators, run by processes of this machine or by tasks of Ray."""
