"""One study in a database, inside a transaction: its row, events and queries, each checked by its seal."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from gobetween.errors import Fix, StudyError
from gobetween.study.journal.record import QueryRow
from gobetween.study.notify.messages import Message, Undelivered
from gobetween.study.spec.checks import check_new_name
from gobetween.study.store import outbox
from gobetween.study.store.checksums import QUERY, STUDY, event_seal, query_seal, seal_of, study_seal
from gobetween.study.store.failures import damaged
from gobetween.study.store.tables import events, queries, studies, tokens
from gobetween.study.store.tables import outbox as outbox_table

PAGE = 1000  # rows that are fetched at a time
OWN = ("seq", "at", "actor", "kind", "query", "key", "part")  # fields of an event with a column of their own


class DatabaseRecord:
    """One study inside a transaction. Nothing is taken from it whose seal is not right."""

    def __init__(self, connection: Connection, row: Any, now: float, place: str) -> None:
        self._connection, self._id, self.now, self._place = connection, row.id, now, place
        self._row = {column: row._mapping[column] for column in STUDY}
        if row.seal != study_seal(self._row):
            raise damaged(place, f"study {row.name!r} is not as it was written")
        self._snapshot: Mapping[str, Any] | None = None  # read when someone wants it

    @property
    def name(self) -> str:
        return str(self._row["name"])

    @property
    def spec(self) -> Mapping[str, Any]:
        return _object(self._row["spec"])

    @property
    def about(self) -> Mapping[str, Any]:
        return _object(self._row["about"])

    @property
    def snapshot(self) -> Mapping[str, Any] | None:
        if self._snapshot is None and self._row["snapshot"] is not None:
            self._snapshot = _object(self._row["snapshot"])
        return self._snapshot

    @property
    def seq(self) -> int:
        return int(self._row["seq"])

    def query(self, number: int) -> QueryRow | None:
        found = self._connection.execute(_QUERY, {"id": self._id, "number": number}).first()
        return None if found is None else self._query_row(found)

    def queries(self, numbers: Collection[int]) -> list[QueryRow]:
        found = self._connection.execute(_QUERIES, {"id": self._id, "numbers": list(numbers)}).all()
        return [self._query_row(row) for row in found]

    def answered(self, mediator: int, last: int) -> list[QueryRow]:
        where = (queries.c.study == self._id) & (queries.c.mediator == mediator) & queries.c.status.in_(("told", "silent"))
        found = self._connection.execute(select(queries).where(where).order_by(queries.c.query.desc()).limit(last))
        return [self._query_row(row) for row in found]

    def by_key(self, key: str) -> list[dict[str, Any]]:
        found = self._connection.execute(_BY_KEY, {"id": self._id, "used": key}).all()
        return list(self._events(found, self.seal(found[0].seq - 1))) if found else []

    def events_of(self, number: int) -> list[dict[str, Any]]:
        where = (events.c.study == self._id) & (events.c.query == number)
        found = self._connection.execute(select(events).where(where).order_by(events.c.seq)).all()
        return [event for row in found for event in self._events([row], self.seal(row.seq - 1))]

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
        return (_event(own, payload) for own, payload in self._read(after, limit))

    def lines(self) -> Iterator[str]:
        return (_line(own, payload) for own, payload in self._read(0, None))

    def _read(self, after: int, limit: int | None) -> Iterator[tuple[list[Any], str]]:
        seal = self.seal(after)
        while limit is None or limit > 0:
            size = PAGE if limit is None else min(PAGE, limit)
            wanted = select(events).where(events.c.study == self._id, events.c.seq > after).order_by(events.c.seq).limit(size)
            page = self._connection.execute(wanted).all()
            yield from self._sound(page, seal)
            if len(page) < size:
                return
            after, seal, limit = page[-1].seq, page[-1].seal, None if limit is None else limit - size

    def rows(self) -> Iterator[QueryRow]:
        last = -1
        while True:
            wanted = select(queries).where(queries.c.study == self._id, queries.c.query > last).order_by(queries.c.query)
            page = [self._query_row(row) for row in self._connection.execute(wanted.limit(PAGE))]
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1].query

    @property
    def weight(self) -> int:
        return len(self._row["snapshot"] or "")

    def write(
        self, recorded: Sequence[Mapping[str, Any]], rows: Sequence[QueryRow], snapshot: Mapping[str, Any] | None
    ) -> None:
        head, sealed = self._row["head"], []
        for one in map(_columns, recorded):
            head = event_seal(head, one)
            sealed.append(one | {"study": self._id, "seal": head})
        self._connection.execute(_ADDED, sealed)
        if rows:
            changed = [_query_columns(row) | {"study": self._id} for row in rows]
            self._connection.execute(_upsert(self._connection.dialect.name), changed)
        changes: dict[str, Any] = {"seq": self.seq + len(recorded), "head": head}
        if snapshot is not None:
            self._snapshot = snapshot
            changes["snapshot"] = to_json(snapshot)
        self._change(**changes)

    def post(self, messages: Sequence[Message]) -> None:
        outbox.post(self._connection, self._id, messages)

    def undelivered(self) -> Undelivered:
        return outbox.undelivered(self._connection, self._id)

    def rename(self, name: str) -> None:
        others = [one for one in self._connection.execute(select(studies.c.name)).scalars() if one != self.name]
        if name in others:
            raise StudyError(f"{self._place} already has a study {name!r}", fix=Fix("status"))
        check_new_name(name, others, self._place)
        self._change(name=name)

    def remove(self) -> str:
        from gobetween.study.store.copies import back_up_study

        file = back_up_study(self._connection, self._id, self.name, self._place, self.now)
        for table in (outbox_table, tokens, queries, events):
            self._connection.execute(table.delete().where(table.c.study == self._id))
        self._connection.execute(studies.delete().where(studies.c.id == self._id))
        return str(file)

    def respecify(self, spec: Mapping[str, Any]) -> None:
        self._change(spec=to_json(spec))

    def _change(self, **values: Any) -> None:
        self._row |= values
        changes = {f"new_{name}": value for name, value in values.items()} | {"new_seal": study_seal(self._row)}
        self._connection.execute(_change_of(*values), changes | {"at": self._id})

    def seal(self, seq: int) -> str:
        """The seal of an event, to go on from; before the first and after the last there is none."""
        if not 0 < seq <= self.seq:
            return ""
        if seq == self.seq:
            return str(self._row["head"])
        wanted = select(events.c.seal).where(events.c.study == self._id, events.c.seq == seq)
        return str(self._connection.execute(wanted).scalar())

    def _events(self, found: Iterable[Any], seal: str) -> Iterator[dict[str, Any]]:
        return (_event(own, payload) for own, payload in self._sound(found, seal))

    def _sound(self, found: Iterable[Any], seal: str) -> Iterator[tuple[list[Any], str]]:
        """Values and payloads of events whose seals are right."""
        for _, *own, payload, held in found:  # in the order of the table's columns, which is that of the seal
            if held != seal_of(seal, *own, payload):
                raise damaged(self._place, f"event {own[0]} of study {self._row['name']!r} is not as it was written")
            seal = held
            yield own, payload

    def _query_row(self, row: Any) -> QueryRow:
        _, *values, held = row
        if held not in (seal_of(*values), _seal_of_minus_zero(values)):
            raise damaged(self._place, f"query {row.query} of study {self._row['name']!r} is not as it was written")
        return QueryRow(*values)


def _seal_of_minus_zero(values: Sequence[Any]) -> str:
    """What an earlier version wrote of a reward of -0.0, which SQLite gives back as 0.0: it is the same."""
    place = QUERY.index("reward")
    return seal_of(*values[:place], -0.0, *values[place + 1 :]) if values[place] == 0.0 else ""


@cache
def _upsert(dialect: str) -> Any:
    made: Any = import_module(f"sqlalchemy.dialects.{dialect}").insert(queries)
    names = ("mediator", "status", "slot", "arm", "reward", "worker", "seal")
    return made.on_conflict_do_update(index_elements=["study", "query"], set_={name: made.excluded[name] for name in names})


@cache
def _change_of(*names: str) -> Any:
    change = update(studies).where(studies.c.id == bindparam("at"))
    return change.values({name: bindparam(f"new_{name}") for name in (*names, "seal")})


_QUERY = select(queries).where(queries.c.study == bindparam("id"), queries.c.query == bindparam("number"))
_QUERIES = select(queries).where(queries.c.study == bindparam("id"), queries.c.query.in_(bindparam("numbers", expanding=True)))
_BY_KEY = select(events).where(events.c.study == bindparam("id"), events.c.key == bindparam("used")).order_by(events.c.part)
_ADDED = events.insert()


def _columns(one: Mapping[str, Any]) -> dict[str, Any]:
    payload = {key: value for key, value in one.items() if key not in OWN}
    return {key: one.get(key) for key in OWN} | {"at": float(one["at"]), "payload": to_json(payload)}


def _query_columns(row: QueryRow) -> dict[str, Any]:
    columns = row.__dict__ | {"reward": None if row.reward is None else row.reward + 0.0}  # SQLite gives 0.0 back for -0.0
    return columns | {"seal": query_seal(columns)}


def _event(values: Sequence[Any], payload: str) -> dict[str, Any]:
    event = dict(zip(OWN, values, strict=True))
    if event["query"] is None:
        del event["query"]
    event |= json.loads(payload)
    return event


def _line(values: Sequence[Any], payload: str) -> str:
    """The same as a line of JSON; its payload is one already."""
    seq, at, actor, kind, query, key, part = values  # as OWN names them; their seals say that they are what was written
    about = _TEXT(kind) if query is None else f'{_TEXT(kind)}, "query": {query}'
    own = f'{{"seq": {seq}, "at": {at!r}, "actor": {_TEXT(actor)}, "kind": {about}, "key": {_TEXT(key)}, "part": {part}'
    return f"{own}, {payload[1:]}" if payload != "{}" else own + "}"


def to_json(value: Any) -> str:
    """A value as it is stored."""
    return _ENCODER.encode(value)


def _object(text: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(text)
    return found


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_TEXT: Callable[[str], str] = json.encoder.encode_basestring
