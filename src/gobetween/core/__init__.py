"""The mathematics: pure, compiled, without I/O, clock or global state. In reading order:

What is paid: `family` (the contract), `mixtures`, `families`. What is asked: `problem`.
The lower bound: `transport` (f_a), `certificate`, `interior` (cold), `active` (warm), `game`, `bound`, `geometry`.
A run: `state`, `tracking`, `eprocess`, `rule` (the contracts), `sampling` and `stopping` (rules as values), `sampler` and
`stopper` (rules at work), `step`, `loops`. What it says: `evidence`, `exact`, `alarms`. Ground: `jit`, `types`, `linalg`, `registry`.
"""
