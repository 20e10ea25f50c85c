"""The mathematics: pure, compiled, without I/O, clock or global state. Sub-rooms in the order in which it is told:

    ground ▸ reward ▸ problem ▸ evidence ▸ question ▸ bound ▸ sampling ▸ stopping ▸ run ▸ alarm ▸ verdict

Each imports only from those before it; each says in its `__init__` what it holds and where to begin.
"""
