"""Scale on paper: a discrete-event simulation of training by parameter servers, message by message.

`network` has processors and interfaces, `barrier` the accumulators and tokens, `training` the messages of a
step; `machines` says what things cost, `experiments` repeats those of the OSDI 2016 paper, `report` and
`pictures` show them beside it. `docs/simulation.md` tells what came out.
"""
