"""Waiting rooms between steps: queues, barriers, accumulators of gradients, staging areas."""
