"""`python -m gobetween`."""

from gobetween.cli import main

main()
