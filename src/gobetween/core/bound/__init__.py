"""The lower bound T* with its certificate. Read `lower_bound`, the public value, first; `certificate` says what proves a
bound, `game` solves, cold by `interior_point`, warm by `active_set`. `geometry` says what mediation costs and which mediators
are not needed, `what_if` what would change the price.
"""
