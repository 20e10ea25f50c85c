"""What a study is about. Read `spec`, the value, first; `fields` reads it from files, `changes` compares, `checks` refuse."""
