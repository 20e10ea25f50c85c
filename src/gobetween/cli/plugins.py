"""Modules of the user with families and rules of their own: `--plugin MODULE`, or GOBETWEEN_PLUGINS=module,module."""

import os
import sys
from importlib import import_module

import click

from gobetween.errors import GoBetweenError

VARIABLE = "GOBETWEEN_PLUGINS"


def ready(plain: bool = False) -> None:
    """Every command says this before anything of the core is imported: how kernels run is decided then, once.

    plain: the work is small, plain Python is done with it before compiled code is even loaded. Plug-ins come after that
    decision, for they import the core.
    """
    if plain:
        os.environ.setdefault("GOBETWEEN_JIT", "off")
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy starts a thread for each core, a tenth of a small command
    context = click.get_current_context(silent=True)
    named = context.find_root().params.get("plugin", ()) if context else ()
    found = [(f"{VARIABLE}: ", name.strip()) for name in os.environ.get(VARIABLE, "").split(",")]
    for origin, name in [*found, *(("--plugin ", name) for name in named)]:
        if name:
            _load(origin, name)


def _load(origin: str, name: str) -> None:
    if sys.path[0] != "":
        sys.path.insert(0, "")  # the current folder first, as with python -m
    try:
        import_module(name)
    except Exception as error:  # whatever the user's module does
        raise GoBetweenError(f"{origin}{name}: cannot be imported ({type(error).__name__}: {error})") from None
