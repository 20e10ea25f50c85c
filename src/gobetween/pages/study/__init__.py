"""The pages of a study. Read `page` first, live and in reports, then its `rows`; `report` is to keep, `status` for the
terminal; `history` shows a study over time.
"""
