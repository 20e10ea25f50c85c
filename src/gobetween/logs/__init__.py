"""The best arm from what others have already collected: `reading` counts the rows of files and tables, `analysis` makes a
report of the counts, or replays a rule on the rows.
"""
