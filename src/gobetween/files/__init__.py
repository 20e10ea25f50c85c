"""What people write: `toml` in one shape, read by `problem` and `rules` with the path of every mistake (`fields`, `paths`);
`cells` are those of CSV, `output` writes files whole or not at all.
"""
