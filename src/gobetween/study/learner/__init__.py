"""The live learner, without a store. Read `learner` first, the door, and `design` (how an experiment is run); behind it
`state` holds two ledgers (`ledger`), `queries`, `checkpoints` for alarms and the `rules` at work. `progress`, `forecast` and
`resolution` report, `roster` changes who is there, `collected` is what was there before, `serialise` saves.
"""
