"""What rewards prove, whenever one looks and however arms were chosen (docs/stopping.md). Read `eprocess` first, the evidence
of one arm against another and f_a, that of means; `contrast` and `empirical_bernstein` sharpen it, `rank_evidence` (with
`lift_table` for many arms) replaces the union bound over rivals; `guess` and `informed_ranks` add what somebody guessed
beforehand; `means` has confidence sequences, tests of a common mean and means that are possible, `policy_evidence` says when
a policy is refuted.
"""
