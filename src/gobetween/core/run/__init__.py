"""The one step, choose → observe → verdict. Read `loops`, for simulations, first; their random numbers are in `streams`.
`log_scan` goes along the rows of a log.
"""
