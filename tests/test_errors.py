"""Errors are sentences that show no password."""

import pytest

from gobetween.errors import GoBetweenError, StoreError, without_passwords

SECRETS = [
    "postgresql://me:s3cret@host/x",
    "postgresql://me:s3cret@host:5432/x?sslmode=require",
    "postgresql:/me:s3cret@host/x",
    "postgresql+psycopg://me:s3cret@host/x",
    "postgresql://:s3cret@host/x",
    "postgresql://me:s3/cr@et:s3cret@host/x",
    "mysql://me:s3cret@host",
    "postgresql://host/x?user=me&password=s3cret",
    "postgresql://host/x?sslpassword=s3cret&sslmode=require",
    "host=localhost user=me password=s3cret",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_no_sentence_shows_a_password(secret: str) -> None:
    for text in (secret, f"{secret}: its folder does not exist", f"store = '{secret}'"):
        for shown in (str(GoBetweenError(text)), repr(StoreError(text)), without_passwords(text)):
            assert "s3" not in shown
            assert "***" in shown
            assert without_passwords(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me@host:5432/x",
        "postgresql://host/x?user=me",
        "/data/study.sqlite: there is no such store",
        "contact me@example.org: not known",
        "at 12:30 ask x@y",
        "C:/data/me@home/study.sqlite",
        "set PGPASSWORD in the environment",
        "https://example.org:8080/a",
        "pair https://example.org/a:b and me@example.org",
    ],
)
def test_what_holds_none_stays(text: str) -> None:
    assert without_passwords(text) == text
