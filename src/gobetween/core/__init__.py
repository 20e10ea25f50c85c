"""The mathematics: pure, compiled, without I/O, clock or global state. In reading order:

- what is paid: `family` (the contract), `mixtures`, `families`, `trials`; what is asked: `problem`, `policies`;
- the lower bound: `transport` (f_a), `certificate`, `interior` (cold), `active` (warm), `game`, `large`, `bound`,
  `geometry`, `design`, `supports`;
- a run: `state`, `tracking`, `eprocess`, `rule` (the contracts), `sampling` and `stopping` (rules as values), `sampler` and
  `stopper` (rules at work), `pursuit` (`whole` for plain Python), `ranks` (`lifts` for many arms), `contrast` and `narrow` (the
  defaults), `frank_wolfe` and `hedge` (of the literature), `absence` (around whom they plan), `step`, `loops`, `scans` (along
  logs); what it says: `evidence`, `intervals`, `missing` and `opposed` (`convex`), `exact`, `alarms`, `sizes`, `difference`,
  `drift`, `spread`, `excess`, `gaps`, `visible`, `voice`, `posterior` (for forecasts);
- other questions: `question` (the contract), `questions`, `examiner`, `asked`, `question_bound`;
- ground: `jit`, `types`, `linalg`, `registry`.
"""
