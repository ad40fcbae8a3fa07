"""What hands values from step to step: queues, barriers, accumulators of gradients, staging areas."""
