"""What a study is about: `spec` is the value, `fields` reads it from files, `changes` compares two, `checks` check values."""
