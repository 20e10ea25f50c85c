"""`gobetween token`: who may do what on a server."""

import click

from gobetween.cli.serve import PORT
from gobetween.cli.verb import Call, study_command, utc_option
from gobetween.errors import StudyError


@click.group("token")
def command() -> None:
    """Make, list and revoke tokens: an administrator's for a whole store, a mediator's for its own inbox."""


@study_command("new")
@click.argument("mediator", required=False)
@click.option("--admin", is_flag=True, help="For the administrator of the store, instead of a mediator.")
@click.option("--days", type=float, default=90.0, show_default=True, help="How long it is valid; 0: until it is revoked.")
@click.option("--label", default="", help="What it is called in lists and as the author of events [default: the mediator].")
@click.option("--url", help=f"Where the server is reached, for the link [default: where it runs, or http://127.0.0.1:{PORT}].")
def new(call: Call, mediator: str | None, admin: bool, days: float, label: str, url: str | None) -> None:
    """A new personal link. It is shown this once: the store keeps a digest only."""
    if (mediator is None) != admin:
        raise StudyError("name the mediator whose inbox it opens, or add --admin")
    study = call.quietly()
    from gobetween.study.server_address import address_of
    from gobetween.study.tokens import new_token

    token, row = new_token(study, mediator, days or None, label)
    found = url or address_of(study.store)
    link = f"{(found or f'http://127.0.0.1:{PORT}').rstrip('/')}/enter#{token}"
    words = "the administrator" if admin else repr(mediator)
    lines = [f"token {row.id} for {words}; pass on this link, it is shown only now:", link]
    if found is None:
        lines.append("no server of this store runs on this computer: --url names its address")
    call.show({"id": row.id, "mediator": mediator, "expires": row.expires, "token": token, "link": link}, *lines)


@study_command("list")
@utc_option
def list_(call: Call, utc: bool) -> None:
    """Those there are, without the tokens themselves."""
    study = call.quietly()
    from gobetween.study.tokens import listed
    from gobetween.words.numbers import moment

    rows, now, names = listed(study.store), study.store.now(), study.spec.mediators
    shown, lines = [], []
    for row in rows:
        if row.study not in (None, study.name):
            continue
        whose = "admin" if row.mediator is None else names[row.mediator]
        over = row.expires is not None and row.expires <= now
        state = "revoked" if row.revoked is not None else "expired" if over else "valid"
        until = (
            ""
            if row.expires is None or state == "revoked"
            else f", {'expired' if over else 'until'} {moment(row.expires, utc)}"
        )
        shown.append({"id": row.id, "for": whose, "label": row.label, "state": state, "made": row.made, "expires": row.expires})
        lines.append(f"{row.id}  {whose} ({row.label}): {state}{until}")
    call.show({"tokens": shown}, *(lines or ["there are no tokens: gobetween token new makes one"]))


@study_command("revoke")
@click.argument("token_id")
def revoke(call: Call, token_id: str) -> None:
    """Revoke a token permanently; servers know within a second."""
    study = call.quietly()
    from gobetween.study.tokens import revoke as take_back

    take_back(study.store, token_id)
    call.show({"id": token_id, "revoked": True}, f"token {token_id} is revoked")


for one in (new, list_, revoke):
    command.add_command(one)
