"""What people read, for reports, notebooks and the terminal alike. Read `blocks` first, then `templates` with the files under
templates/ and `svg`, which draws; `html` writes reports; then a file for each subject, and `study` for those of a study.
"""
