"""What people write: TOML in one shape, read and checked with the path of every mistake."""
