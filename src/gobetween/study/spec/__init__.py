"""What a study is about. Read `spec`, the value, first; `fields` reads it from files, `changes` compares it,
`older_file` forgives what was true before, `checks` refuse.
"""
