"""From files and tables to counts. Read `options` (how a log is read), `batch` (some rows) and `counts` (what they come to)
first. `files` and `sources` find rows; `arrow`, `rows` and `tables` read them, with `columns`, `names` and `filters`; `checks`
says which rows can be used, `plausibility` which columns, `merging` puts them in order, `reading` counts them, `history` keeps
what was seen on the way.
"""
