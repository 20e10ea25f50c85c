"""A study file that does not yet say what commands have changed blocks nothing; what was never true of the study is an edit."""

from pathlib import Path

import pytest
from launcher import gobetween

import gobetween as gb
from gobetween.service.studies import Studies
from gobetween.study.find_study import open_study

TOML = """
[[arms]]
name = "a"
[[arms]]
name = "b"
[[mediators]]
name = "North"
policy = [0.6, 0.4]
[[mediators]]
name = "South"
policy = [0.1, 0.9]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(TOML)
    with gb.Study.create(path) as study:
        study.ask()
    return path


def command(file: Path, *arguments: object) -> str:
    done = gobetween(file.parent, *arguments, GOBETWEEN_JIT="off")
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_remedy_of_an_alarm_on_the_page_leaves_the_command_line_free(file: Path) -> None:
    with gb.Study.open(file.with_suffix(".sqlite")) as page:
        page.declare("North", None)
    note = "note: study.toml is older than what commands have changed since (policy of 'North'); write it there too\n"
    for arguments in (("tell", 0, "--arm", "a", "--reward", 1), ("pause",), ("note", "x"), ("resume",), ("ask",), ("status",)):
        assert command(file, *arguments) == note
    with gb.Study.open(file) as study:
        assert study.spec.cast.policies_by_name()["North"] is None
        assert study.behind == ("policy of 'North'",)
    studies = Studies([str(file)])
    assert [served.name for served in studies.all()] == ["study"]
    studies.close()


@pytest.mark.parametrize(
    ("change", "behind"),
    [
        (lambda study: study.rename("North", "Nord"), ("names of mediators",)),
        (lambda study: study.rename("a", "letter"), ("names of arms",)),
        (lambda study: study.add_mediator("West", policy=[0.5, 0.5], cost=2.0), ("mediator 'West'",)),
        (lambda study: study.declare("South", {"a", "b"}), ("policy of 'South'",)),
        (lambda study: (study.declare("South"), study.declare("South", [0.2, 0.8])), ("policy of 'South'",)),
        (lambda study: (study.rename("North", "Nord"), study.declare("Nord")), ("names of mediators", "policy of 'Nord'")),
        (lambda study: (study.declare("North"), study.rename("North", "N"), study.rename("N", "M"), study.rename("a", "c")),
         ("names of arms", "names of mediators", "policy of 'M'")),
        (lambda study: (study.add_mediator("West"), study.declare("West", [0.5, 0.5]), study.rename("West", "W")),
         ("mediator 'W'",)),
    ],
)  # fmt: skip
def test_whatever_commands_change(change: object, behind: tuple[str, ...], file: Path) -> None:
    with gb.Study.open(file.with_suffix(".sqlite")) as page:
        change(page)  # type: ignore[operator]
        wanted = page.spec.to_dict()
    with open_study(file, None, None) as study:
        assert study.behind == behind
        assert study.spec.to_dict() == wanted
        study.tell(0, arm=study.spec.arms[0], reward=1)
    file.write_text(f'title = "new"\n{file.read_text()}')
    with gb.Study.open(file) as study:  # an edit beside it is taken over
        assert study.taken_over == {"title": ("", "new")}
    spec = gb.StudySpec.from_toml(file)
    with gb.Study.open_or_create(file.with_suffix(".sqlite"), spec) as study:
        assert study.behind == behind


def test_what_was_never_declared_is_refused_and_what_is_old_by_now_is_not(file: Path) -> None:
    with gb.Study.open(file) as page:
        page.add_mediator("West", policy=[0.5, 0.5])
        page.declare("West", [0.3, 0.7])
    file.write_text(f'{TOML}[[mediators]]\nname = "West"\npolicy = [0.5, 0.5]\n')
    with gb.Study.open(file) as study:
        assert study.behind == ("policy of 'West'",)
    file.write_text(f'{TOML}[[mediators]]\nname = "West"\npolicy = [0.4, 0.6]\n')
    with pytest.raises(gb.StudyError, match="policies: of 'West' the study has another one: undo that"):
        gb.Study.open(file)
    file.write_text(TOML.replace('"South"', '"Sud"'))
    with pytest.raises(gb.StudyError):
        gb.Study.open(file)
