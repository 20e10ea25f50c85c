"""Whom to ask next. Read `sampling_rule` (the contract, and a rule of one's own at work) and `rules` (ours as values) first;
`sampler` has ours at work. `pursuit` is the default, `tracking` is the paper's (and that of boxes), `frank_wolfe` and
`adahedge` are from the literature; `availability` plans around mediators who are away.
"""
