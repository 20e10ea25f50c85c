"""gobetween: find the best option when you can only act through go-betweens.

    import gobetween as gb

    problem = gb.Problem([1.5, 1.0, 0.7, 0.5], policies, family=gb.Gaussian(1.0))
    gb.lower_bound(problem).queries(delta=0.05)

Names are loaded when first used, so that importing the package costs nothing; `__init__.pyi` lists them, each once.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _homes() -> dict[str, str]:
    """Public name → the module it lives in."""
    lines = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: home for home, name in re.findall(r"^from (\S+) import \w+ as (\w+)$", lines, re.MULTILINE)}


_HOME_OF = _homes()
__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'gobetween' has no attribute {name!r}")
    from gobetween.argument_errors import guarded  # the command line does without

    home = import_module(_HOME_OF[name])
    value = guarded(getattr(home, name))
    setattr(home, name, value)  # one object, also for pickle
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
