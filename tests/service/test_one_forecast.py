"""One state, one forecast: in Python, in the shell, by REST and on the page, compiled or not."""

import html
import json
import random
import re
from pathlib import Path

from launcher import gobetween
from service_parts import running

import gobetween as gb


def test_one_forecast_whatever_the_door_and_whether_kernels_are_compiled(tmp_path: Path) -> None:
    rng = random.Random(1)
    arms, often = ("a", "b"), {"North": 0.8, "South": 0.3}
    pays = {"a": 0.62, "b": 0.70}
    asked = [(("North", "South")[i % 2], arms[rng.random() > often[("North", "South")[i % 2]]]) for i in range(120)]
    rows = "".join(f"{mediator},{arm},{int(rng.random() < pays[arm])}\n" for mediator, arm in asked)
    (tmp_path / "answers.csv").write_text(f"mediator,arm,reward\n{rows}")
    spec = gb.StudySpec(arms, {"North": [0.8, 0.2], "South": [0.3, 0.7]}, family="bernoulli", delta=0.001)
    with gb.Study.create(tmp_path / "s.sqlite", spec) as study:
        study.tell_csv(tmp_path / "answers.csv")
        here = study.status()
        said = [here.to_dict()]
    for jit in ("on", "off"):
        done = gobetween(tmp_path, "status", "--study", "s.sqlite", "--json", GOBETWEEN_JIT=jit)
        said.append(json.loads(done.stdout))
    plain = gobetween(tmp_path, "status", "--study", "s.sqlite", GOBETWEEN_JIT="off").stdout
    with running(store=str(tmp_path / "s.sqlite")) as server, server.client() as client:
        said.append(client.get("/api/v1/studies/study").json())
        page = client.get("/studies/study", headers={"cookie": server.cookie(), "authorization": ""}).text
    found = [(one["queries_to_go"], one["queries_range"], one["how_far"]) for one in said]
    assert found[0][1] is not None
    assert found == [found[0]] * 4
    shown = re.search(r"80% range: [\d,–]+", here.how_far)
    assert shown is not None
    for text in (plain, html.unescape(page)):
        assert shown[0].removeprefix("80% range: ") in text
