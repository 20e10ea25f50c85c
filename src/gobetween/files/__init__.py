"""What people write: `toml` in one shape, read by `problem` and `rules` with the path of every mistake (`fields`, `paths`)."""
