"""What arms pay. Read `family` (the contract) and `mixtures` (of likelihood ratios) first, then the families themselves:
`families`, `bounded` (rewards in an interval), `trials` (counts of trials), `unknown_sigma`. `second_moments` and
`overdispersion` are about how far rewards spread.
"""
