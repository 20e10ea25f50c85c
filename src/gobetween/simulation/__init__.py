"""Playing a problem many times. Read `engine` first, then `runs` and their `summary`; `plan` reports the lower bound, `worlds`
forecasts; a `grid` of experiments is run by `runner` on `executors`, kept in a `results_file`, read as `results` and compared
in `comparison`.
"""
