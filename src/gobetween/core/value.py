"""Families and questions as values: named tuples that have a name, tell their parameters and are equal by kind."""

from typing import Any, ClassVar


class Value:
    """What both have in common."""

    __slots__ = ()
    name: ClassVar[str] = ""
    """What files and the command line call it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if issubclass(cls, tuple):  # as tuples all kinds without parameters would be equal
            cls.__eq__, cls.__ne__, cls.__hash__ = _same, object.__ne__, _hash  # type: ignore[assignment]  # methods

    def parameters(self) -> dict[str, Any]:
        """Parameters by name; none unless it is a named tuple with fields."""
        return {name: getattr(self, name) for name in getattr(self, "_fields", ())}

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters, JSON-safe."""
        return {"name": self.name, **self.parameters()}


def _same(one: Any, other: object) -> bool:
    return type(one) is type(other) and bool(tuple.__eq__(one, other))  # type: ignore[operator]  # both are tuples


def _hash(value: Any) -> int:
    return hash((type(value).__name__, *value))
