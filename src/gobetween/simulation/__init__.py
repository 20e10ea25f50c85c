"""Playing a problem many times. Read `engine` first, then `runs` and their `summary`; `plan` reports the lower bound,
`guess_worth` what a guess saves, `worlds` forecasts; a `grid` of experiments is run by `runner` on `executors`, kept in a
`results_file`, read as `results` and compared in `comparison`.
"""
