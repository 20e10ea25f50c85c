"""The mathematics: pure, compiled, without I/O, clock or global state."""
