"""`python -m gobetween`."""

import sys

from gobetween.interrupts import STOPPED, end, stop, watch


def run() -> None:
    """The command line, from its first import on."""
    try:
        watch()
        from gobetween.cli import main

        main()
    except KeyboardInterrupt:
        stop()
    except SystemExit as ending:
        if ending.code == STOPPED:
            sys.stdout.flush()
            end()
        raise


if __name__ == "__main__":
    run()
