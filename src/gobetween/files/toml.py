"""Reading files, before anything heavy is imported."""

import tomllib
from os import PathLike
from pathlib import Path
from typing import Any

from gobetween.errors import SpecError


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The file as nested dicts; syntax errors say the line."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: not a text file in UTF-8") from None
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror})") from None
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path}: not valid TOML: {error}") from None
    except (ValueError, RecursionError):
        raise SpecError(f"{path}: holds a number that is too long or tables that are nested too deeply") from None
