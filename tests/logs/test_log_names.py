"""Names as people write them, rewards that are missing, and policies that a log says itself."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_tables import count_logs, of_kind, table, write_csv

import gobetween as gb
from gobetween.logs.analysis.notes import log_missing_evidence
from gobetween.logs.analysis.policies import propensity_policy
from gobetween.logs.reading.counts import BadLogError
from gobetween.logs.reading.names import natural, read_renames
from gobetween.logs.reading.options import LogOptions

MESSY: dict[str, list[Any]] = {
    "mediator": ["North", "north ", "SOUTH", "south"] * 25,
    "arm": ["1", "1.0", "cafe\u0301", "café"] * 25,
    "reward": [1, 0, 1, 0] * 25,
}


def test_names_that_look_alike_are_said_and_joined(tmp_path: Path) -> None:
    apart = gb.analyse_logs(MESSY)
    assert (len(apart.arms), len(apart.mediators)) == (3, 4)  # é is one letter, however it was typed
    assert any("Arms whose names look alike" in note and "'1' and '1.0'" in note for note in apart.notes)
    assert any("Mediators whose names look alike" in note and "'SOUTH' and 'south'" in note for note in apart.notes)
    halves = [{key: values[i : i + 50] for key, values in MESSY.items()} for i in (0, 50)]
    with ThreadPoolExecutor(2) as executor:
        for joined in (
            gb.analyse_logs(MESSY, fold=True),
            gb.analyse_logs(*halves[::-1], fold=True, executor=executor),
            gb.analyse_logs(write_csv(tmp_path / "x.csv", MESSY), fold=True),
        ):
            assert ([arm.arm for arm in joined.arms], joined.mediators) == (["1", "café"], ("north", "south"))
            assert joined.N_ea.tolist() == [[50, 0], [0, 50]]
            assert not joined.notes
    known = gb.analyse_logs(MESSY, fold=True, arms=["Café", "1.0"], declared={"North": None, "South": [0.5, 0.5]})
    assert ([arm.arm for arm in known.arms], known.mediators) == (["1.0", "Café"], ("North", "South"))


def test_names_are_renamed(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("old,new\n1.0,1\nSOUTH,south\n")
    renames = read_renames([str(tmp_path / "names.csv"), "north =North", "Sud=south"])
    found = gb.analyse_logs(MESSY, rename=renames)
    assert found.mediators == ("North", "south")
    assert [arm.arm for arm in found.arms] == ["1", "café"]
    assert "Names to be renamed that are not in the log: 'Sud'." in found.notes
    for texts, message in (
        (["a=b", "a=c"], "'a' is to be renamed to both 'b' and 'c'"),
        (["=b"], "write old=new"),
        (["nowhere.csv"], "neither a pair old=new nor a readable CSV file"),
    ):
        with pytest.raises(gb.LogError, match=message):
            read_renames(texts)
    with pytest.raises(gb.LogError, match="rename 'a': give it a new name"):
        gb.analyse_logs(MESSY, rename={"a": " "})


def test_what_stands_for_nothing_is_no_arm() -> None:
    log: dict[str, list[Any]] = {"arm": ["a", "b"] * 20 + ["N/A", "-", "", None], "reward": [1, 0] * 20 + [1, 1, 1, 1]}
    with pytest.raises(BadLogError) as caught:
        gb.analyse_logs(log)
    reasons = {row.row: row.reason for row in caught.value.bad}
    assert reasons[41] == "its arm is 'N/A': rename it to itself if that is a name"
    assert reasons[43] == reasons[44] == "has no arm"
    assert [arm.arm for arm in gb.analyse_logs(log, skip_bad=True).arms] == ["a", "b"]
    assert [arm.arm for arm in gb.analyse_logs(log, skip_bad=True, rename={"N/A": "N/A"}).arms] == ["N/A", "a", "b"]
    assert gb.analyse_logs(log, skip_bad=True, arms=["a", "b", "-"]).arms[0].arm == "-"
    silent = {"arm": ["a", "b", None, "N/A", None], "reward": [1, 0, None, None, "x"], "mediator": ["m"] * 5}
    assert gb.analyse_logs(silent, silence=True, skip_bad=True).silent == {"m": 2}
    with pytest.raises(BadLogError, match="table row 5: has no arm"):
        gb.analyse_logs(silent, silence=True)


def test_arms_sort_as_people_count() -> None:
    names = ["arm 10", "arm 2", "arm 1", "b", "arm", "2", "10", "arm 02", "²"]
    assert sorted(names, key=natural) == ["2", "10", "arm", "arm 1", "arm 02", "arm 2", "arm 10", "b", "²"]
    assert [a.arm for a in gb.analyse_logs({"arm": ["x10", "x9"] * 5, "reward": [1, 0] * 5}).arms] == ["x9", "x10"]


def test_at_most_ten_bad_rows_are_shown_and_the_rest_is_counted_by_kind() -> None:
    rewards: list[Any] = [f"w{i}" for i in range(30)] + [None] * 5 + [7.0] * 3 + ["1", "0"]
    with pytest.raises(BadLogError) as caught:
        gb.analyse_logs({"arm": ["a", "b"] * 20, "reward": rewards})
    text = str(caught.value)
    assert text.count("is not a number;") == 10
    assert "table row 1: its reward 'w0' is not a number; table row 2: its reward 'w1' is not a number" in text
    assert "and 28 more: 20 × reward is not a number, 5 × its reward is missing, 3 × reward is not possible" in text


def missing(chance: tuple[float, ...], seed: int = 0) -> gb.LogReport:
    rng, log = np.random.default_rng(seed), table(900, seed)
    gone = rng.random(900) < np.array(chance)[["abc".index(arm) for arm in log["arm"]]]
    log["reward"] = [None if lost else x for lost, x in zip(gone, log["reward"], strict=True)]
    return gb.analyse_logs(log, skip_bad=True)


def test_missing_rewards_are_broken_down() -> None:
    even, uneven = missing((0.2, 0.2, 0.2)), missing((0.05, 0.2, 0.4))
    for found in (even, uneven):
        assert found.notes[0].startswith(f"{found.bad_count} rows have no reward: by arm ")
        assert "; by mediator 'm" in found.notes[0]
    assert not any("more often than others" in note for note in even.notes)
    assert any("arms lack rewards more often than others" in note for note in uneven.notes)


def test_gaps_are_seen_falsely_as_seldom_as_is_said() -> None:
    """At every row, not only in the end; 10,000 streams in validity/log_evidence.py."""
    rng, raised = np.random.default_rng(3), 0
    for _ in range(200):
        group, gone = rng.integers(0, 4, 150), rng.random(150) < 0.3
        n, m = np.zeros(4, np.int64), np.zeros(4, np.int64)
        for g, lost in zip(group, gone, strict=True):
            n[g], m[g] = n[g] + 1, m[g] + lost
            if log_missing_evidence(m[n > 0], n[n > 0]) >= np.log(20.0):
                raised += 1
                break
    assert raised <= 16  # 10 are allowed for on average
    assert log_missing_evidence(np.array([0, 30]), np.array([60, 60])) > 10.0


def test_propensities_are_policies_that_are_checked_and_planned_with() -> None:
    log = table(900)
    shares = {"m0": [0.6, 0.3, 0.1], "m1": [0.1, 0.3, 0.6]}
    log["p"] = [shares[m]["abc".index(a)] for m, a in zip(log["mediator"], log["arm"], strict=True)]
    said, told = gb.analyse_logs(log, propensity="p"), gb.analyse_logs(log, arms=list("abc"), declared=shares)
    assert [(a.subject, a.log_e) for a in of_kind(said, "policy")] == [(a.subject, a.log_e) for a in of_kind(told, "policy")]
    assert not any(alarm.raised for alarm in of_kind(said, "policy"))
    assert said.omega == told.omega != gb.analyse_logs(log).omega
    wrong = {**log, "p": [0.2 if p == 0.6 else 0.5 if p == 0.1 else p for p in log["p"]]}
    assert all(alarm.raised for alarm in of_kind(gb.analyse_logs(wrong, propensity="p"), "policy"))
    varying = gb.analyse_logs({**log, "p": [0.5, *log["p"][1:]]}, propensity="p")
    assert any("vary from row to row" in note for note in varying.notes)
    assert len(of_kind(varying, "policy")) == 1
    none = gb.analyse_logs({**log, "p": [0.9] * 900}, propensity="p")
    assert any("sum to 2.7" in note for note in none.notes)
    assert not of_kind(none, "policy")
    less = gb.analyse_logs({**log, "p": [0.9 * p for p in log["p"]]}, propensity="p")  # nothing says where the rest goes
    assert not of_kind(less, "policy")
    assert less.omega == gb.analyse_logs(log).omega
    seldom = [i for i, arm in enumerate(log["arm"]) if arm != "c"]  # it goes to the only arm that was not chosen
    some = {name: [values[i] for i in seldom] for name, values in log.items()}
    of_three, of_four = (count_logs(LogOptions(propensity="p", arms=tuple(arms)), [some]) for arms in ("abc", "abcd"))
    assert propensity_policy(of_three, "m0") == pytest.approx(shares["m0"])
    assert propensity_policy(of_four, "m0") is None
    for wrong_p, words in ((1.5, r"1\.5"), (0.0, "0"), (-0.25, r"-0\.25")):
        with pytest.raises(BadLogError, match=rf"its propensity {words} is not above 0 and at most 1"):
            gb.analyse_logs({**log, "p": [wrong_p, *log["p"][1:]]}, propensity="p")
    stats = count_logs(LogOptions(propensity="p"), [log])
    assert stats.propensities["m0", "a"] == (0.6, 0.6)
