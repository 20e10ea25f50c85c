"""The studies that a server serves, each with the desk where its commands queue up."""

import hashlib
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from gobetween.errors import GoBetweenError, StudyError
from gobetween.service.refusals import NotFoundError
from gobetween.study.desk import Desk
from gobetween.study.opening import open_store, open_study
from gobetween.study.record import Store
from gobetween.study.study import Study


@dataclass(frozen=True)
class Served:
    """A study that is served; `slug` names it in addresses."""

    slug: str
    name: str
    store: Store
    desk: Desk

    def study(self, actor: str) -> Study:
        """The study for one request."""
        made = Study(self.store, self.name, actor)
        made.desk = self.desk
        return made


class Home:
    """Studies by place (study.toml, SQLite file, URL), or all of one store, those that are made later included."""

    def __init__(self, places: Sequence[str] = (), store: str | None = None) -> None:
        self.stores: dict[str, Store] = {}
        self._served: dict[str, Served] = {}
        self._whole: Store | None = None
        self._lock = threading.Lock()
        if store is not None:
            self._whole = self._pooled(store)
        for place in places:
            with open_study(place, None, None) as found:
                kept, name = found.store.place, found.name
            self._add(self._pooled(kept), name)
        self.studies()

    @property
    def makes(self) -> Store | None:
        """Where new studies are made."""
        return self._whole

    def studies(self) -> list[Served]:
        """All of them, by name."""
        if self._whole is not None:
            for name in self._whole.names():
                self._add(self._whole, name)
        return sorted(self._served.values(), key=lambda served: served.name)

    def known(self, slug: str) -> Served | None:
        """A study that is served already, without a look into a store."""
        return self._served.get(slug)

    def find(self, slug: str) -> Served:
        """A study by its name in addresses."""
        if slug not in self._served:
            self.studies()
        if slug not in self._served:
            raise NotFoundError(f"there is no study {slug!r} here")
        return self._served[slug]

    def named(self, store: Store, name: str) -> Served | None:
        """A study of a store, if it is served."""
        found = self._served.get(slug_of(name))
        return found if found is not None and found.store is store else None

    def close(self) -> None:
        """Let go of all stores."""
        for store in self.stores.values():
            store.close()

    def _pooled(self, place: str) -> Store:
        if place not in self.stores:
            self.stores[place] = open_store(place, pooled=True)
            self.stores[place].names()  # there, and of this version?
        return self.stores[place]

    def _add(self, store: Store, name: str) -> None:
        with self._lock:
            held = self._served.get(slug_of(name))
            if held is None:
                self._served[slug_of(name)] = Served(slug_of(name), name, store, Desk(store, name))
            elif held.store is not store or held.name != name:
                raise StudyError(f"two studies are called {name!r}: serve them by two servers")


def slug_of(name: str) -> str:
    """A name for addresses: the study's own where it can stand in one."""
    clean = re.sub(r"[^\w-]+", "-", name).strip("-")
    return name if clean == name else f"{clean or 'study'}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def reachable(home: Home) -> bool:
    """Do all stores answer?"""
    try:
        for store in home.stores.values():
            store.now()
    except GoBetweenError:
        return False
    return True
