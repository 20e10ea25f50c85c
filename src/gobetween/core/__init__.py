"""The mathematics: pure, compiled, without I/O, clock or global state. In reading order:

- what is paid: `family` (the contract), `mixtures`, `families`; what is asked: `problem`;
- the lower bound: `transport` (f_a), `certificate`, `interior` (cold), `active` (warm), `game`, `bound`, `geometry`, `design`;
- a run: `state`, `tracking`, `eprocess`, `rule` (the contracts), `sampling` and `stopping` (rules as values), `sampler` and
  `stopper` (rules at work), `pursuit`, `ranks` and `contrast` (the defaults), `frank_wolfe` and `hedge` (of the literature),
  `absence` (around whom they plan), `step`, `loops`; what it says: `evidence`, `missing`, `exact`, `alarms`,
  `spread`, `excess`, `visible`, `voice`;
- ground: `jit`, `types`, `linalg`, `registry`.
"""
