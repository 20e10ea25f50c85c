"""The studies that a server serves, each with the queue where its commands wait."""

import hashlib
import logging
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gobetween.errors import GoBetweenError, StoreError, StudyError
from gobetween.names import folded
from gobetween.service.errors import ForbiddenError, NotFoundError
from gobetween.study.commands.command_queue import CommandQueue
from gobetween.study.find_study import kept_at, open_store, open_study
from gobetween.study.journal.record import Store
from gobetween.study.study import Study
from gobetween.words.fixes import SERVICE

T = TypeVar("T")
log = logging.getLogger("gobetween")


@dataclass(frozen=True)
class ServedStudy:
    """A study that is served; `slug` names it in addresses."""

    slug: str
    name: str
    store: Store
    queue: CommandQueue

    def study(self, actor: str) -> Study:
        """The study for one request."""
        made = Study(self.store, self.name, actor)
        made.queue = self.queue
        return made


class Studies:
    """Studies by place (study.toml, SQLite file, URL), or all of one store, those that are made later included."""

    def __init__(self, places: Sequence[str] = (), store: str | None = None) -> None:
        self.stores: dict[str, Store] = {}
        self._served: dict[str, ServedStudy] = {}
        self._whole: Store | None = None
        self._fixed: set[tuple[str, str]] = set()  # those that were named when the server started
        self._slugs: dict[tuple[str, str], str] = {}
        """Place of the store and name → the name in addresses."""
        self._lock = threading.Lock()
        if store is not None:
            self._whole = self._pooled(store)
        for place in places:
            store_of, name = self._placed(place)
            self._fixed.add((store_of.place, name))
            self._add(store_of, name)
        self.all()

    def _placed(self, place: str) -> tuple[Store, str]:
        """The study that is meant; one that cannot be read is served all the same, and listed with what is wrong."""
        try:
            with open_study(place, None, None) as found:
                return self._pooled(found.store.place), found.name
        except GoBetweenError as error:
            store, name = self._pooled(kept_at(place)), Path(place).stem
            there = place.endswith(".toml") and name in store.names()
            if not there or not isinstance(attempt(Study.look, Study(store, name)), Unreadable):
                raise
            log.warning("study %r: %s", name, error)
            return store, name

    @property
    def makes(self) -> Store | None:
        """Where new studies are made."""
        return self._whole

    def all(self) -> list[ServedStudy]:
        """All of them, by name."""
        if self._whole is not None:
            try:
                self._refresh(self._whole, self._whole.names())
            except StoreError:  # it is away: those that are known say so, each for itself
                if not self._served:
                    raise
        return sorted(self._served.values(), key=lambda served: served.name)

    def _refresh(self, store: Store, names: Sequence[str]) -> None:
        """Take in those that are new, and let go of those that are gone."""
        for name in names:
            self._add(store, name)
        with self._lock:
            for place, name in [key for key in self._slugs if key[0] == store.place and key[1] not in names]:
                if (place, name) not in self._fixed:
                    del self._served[self._slugs.pop((place, name))]

    def known(self, slug: str) -> ServedStudy | None:
        """A study that is served already, without a look into a store."""
        return self._served.get(slug)

    def find(self, slug: str) -> ServedStudy:
        """A study by its name in addresses."""
        if slug not in self._served:
            self.all()
        if slug not in self._served:
            raise NotFoundError(f"there is no study {slug!r} here")
        return self._served[slug]

    def named(self, store: Store, name: str) -> ServedStudy | None:
        """A study of a store, if it is served."""
        slug = self._slugs.get((store.place, name))
        return None if slug is None else self._served.get(slug)

    def check_new(self, name: str) -> None:
        """Refuse a name by which a study of another store is known here; its own store says the rest."""
        for served in self.all():
            if served.store is not self._whole and (served.slug == slug_of(name) or folded(served.name) == folded(name)):
                raise StudyError(f"a study {served.name!r} is served here already, from another store: choose another name")

    def check_movable(self, served: ServedStudy) -> None:
        """Refuse to rename or delete what the server was started with: it would not start again."""
        if served.store is not self._whole or (served.store.place, served.name) in self._fixed:
            raise ForbiddenError("this server was started with this study: use the command line where its store is")

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
            key, slug = (store.place, name), slug_of(name)
            if key in self._slugs:
                return
            if slug in self._served:
                slug = f"{slug}-{hashlib.sha256(chr(0).join(key).encode()).hexdigest()[:6]}"
                log.warning("two studies are called %r: the one in %s is at /studies/%s", name, store.place, slug)
            self._slugs[key] = slug
            self._served[slug] = ServedStudy(slug, name, store, CommandQueue(store, name))


@dataclass(frozen=True)
class Unreadable:
    """Why a study cannot be read."""

    sentence: str


def attempt(look: Callable[[Study], T], study: Study) -> T | Unreadable:
    """Look at one study of many; one that cannot be read takes nothing from the others."""
    try:
        return look(study)
    except GoBetweenError as error:
        return Unreadable(error.sentence(fixes=SERVICE))
    except Exception:  # whatever a damaged record may cause
        log.exception("study %r of %s", study.name, study.store.place)
        return Unreadable("the study cannot be read; the server's log says why")


def slug_of(name: str) -> str:
    """A name for addresses: the study's own where it can stand in one."""
    clean = re.sub(r"[^\w-]+", "-", name).strip("-")
    return name if clean == name else f"{clean or 'study'}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
