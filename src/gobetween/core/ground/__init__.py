"""What everything stands on. Read `tally` (counts and sums), `value` (families, rules and questions are
values) and `registry` (the list of them) first; `jit` says how code is compiled.
"""
