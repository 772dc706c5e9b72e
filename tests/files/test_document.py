"""The study reader: YAML 1.2 with positions, every fault at once, nothing but StudyError."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.errors import StudyError
from dse.files import document, yaml

SAMPLE = """\
# Which cores?
workload:
  rate: 100 Gbps
  chained: false
stages:
  - core: des
    instances: 3
  - {core: fft, name: "transform"}
axes:
  interface.device: [a, b]
constraints:
  - area_m2 < 1 mm2
"""


def messages(text):
    with pytest.raises(StudyError) as caught:
        document.parse_document(text, "s.yaml")
    return str(caught.value).split("\n")


def test_plain_data_with_positions():
    found = document.parse_document(SAMPLE, "s.yaml")
    assert found.data == {
        "workload": {"rate": "100 Gbps", "chained": False},
        "stages": [{"core": "des", "instances": 3}, {"core": "fft", "name": "transform"}],
        "axes": {"interface.device": ["a", "b"]},
        "constraints": ["area_m2 < 1 mm2"],
    }
    assert found.positions["workload", "rate"][:2] == (3, 3)
    assert found.positions["stages", 1, "name"][:2] == (8, 17)
    assert found.positions["axes", "interface.device", 1][:2] == (10, 25)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e9", 1e9),
        ("2e-9", 2e-9),
        (".5", 0.5),
        ("-3.", -3.0),
        ("010", 10),
        ("+7", 7),
        ("0o10", 8),
        ("0x1F", 31),
        ("~", None),
        ("", None),
        ("TRUE", True),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2001-01-01", "2001-01-01"),
        ("nan", "nan"),
        ("=", "="),
        ("'1'", "1"),
        ('"null"', "null"),
    ],
)
def test_scalars_follow_yaml_1_2(text, value):
    found = document.parse_document(f"key: {text}\n", "s.yaml").data["key"]
    assert found == value
    assert type(found) is type(value)


def test_byte_order_mark_and_carriage_returns_do_not_move_positions():
    plain = document.parse_document(SAMPLE, "s.yaml")
    dressed = document.parse_document("\ufeff" + SAMPLE.replace("\n", "\r\n"), "s.yaml")
    assert (dressed.data, dressed.positions) == (plain.data, plain.positions)


def test_bytes_keys_and_values_are_limited(monkeypatch):
    assert messages("#" * 256_001) == [
        "s.yaml:1:1: more; a study has at most 256000 bytes; keep tables in separate files"
    ]
    monkeypatch.setattr(yaml, "STUDY_NODES", 6)
    assert document.parse_document("a: [1, 2, 3]", "s.yaml").data == {"a": [1, 2, 3]}
    assert messages("a: [1, 2, 3, 4]") == [
        "s.yaml:1:14: a.3: one more; a study has at most 6 keys and values; "
        "write ranges instead of lists"
    ]


def test_all_faults_at_once_up_to_a_syntax_error():
    lines = messages("a: .nan\nb: !x 1\na: 2\nc: [1\n")
    assert [line.split(": ")[0] for line in lines] == [
        "s.yaml:1:4",
        "s.yaml:2:4",
        "s.yaml:3:1",
        "s.yaml:5:1",
    ]


def test_control_characters_in_keys_do_not_reach_the_terminal():
    (line,) = messages('"a\\e[2J\\n": .nan')
    assert line.isprintable()


def test_a_missing_key_is_reported_at_what_encloses_it():
    found = document.parse_document(SAMPLE, "s.yaml")
    fault = found.fault(("workload", "streams"), "nothing", "rule", "remedy")
    assert str(fault) == "s.yaml:2:1: workload.streams: nothing; rule; remedy"
    assert found.fault(("search",), "", "rule", "remedy").line == 1


@pytest.mark.parametrize("bomb", ["[", "{", "{a: ", "- ", "? ", "[a: ", "[[],", "!", "a\n", "-\n"])
def test_bombs_are_bounded(bomb):
    started = time.process_time()
    with pytest.raises(StudyError):
        document.parse_document(bomb * (40_000 // len(bomb)), "s.yaml")
    assert time.process_time() - started < 3


def mutate(text, chance):
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 0, 1, 3]))
        symbols = ["\t", "\n", "\r", "  ", "- ", ": ", *"[]{},:#&*!|>%@`'\"?-<~\\0\x00\x85\ud800"]
        text = text[:start] + chance.choice([*symbols, text[end : end + 20], ""]) + text[end:]
    return text


def test_an_unexpected_failure_of_the_parser_is_a_fault(monkeypatch):
    def fail(self, stream):
        raise IndexError("string index out of range")

    monkeypatch.setattr(yaml.YAML, "parse", fail)
    assert messages("a: 1") == [
        "s.yaml:1:1: 'IndexError: string index out of range'; it is not valid YAML; "
        "check the last change"
    ]


@settings(max_examples=150)
@given(st.randoms(use_true_random=False))
def test_only_study_errors_escape_from_a_mutated_study(chance):
    text = mutate(SAMPLE, chance)
    try:
        found = document.parse_document(text, "s.yaml")
        document.override_value(found, text[:20], text[20:40])
    except StudyError as error:
        assert error.faults  # noqa: PT017


@settings(max_examples=100)
@given(st.text(max_size=60), st.text(max_size=20))
def test_only_study_errors_escape_from_any_text(text, path):
    for action in (
        lambda: document.parse_document(text, "s.yaml"),
        lambda: document.override_value(document.parse_document(SAMPLE, "s.yaml"), path, text),
    ):
        try:
            action()
        except StudyError as error:
            assert error.faults  # noqa: PT017


def read_message(path):
    with pytest.raises(StudyError) as caught:
        document.read_document(path)
    return str(caught.value)


def test_reads_a_file(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_bytes(SAMPLE.encode())
    found = document.read_document(path)
    assert (found.text, found.file) == (SAMPLE, str(path))
    assert found.positions["workload",].file == str(path)


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_bytes(b"a: 1\nb: \xff\n")
    (tmp_path / "large").write_bytes("\u00e9".encode() * 200_000)
    assert read_message("stduy.yaml") == ("no such file: 'stduy.yaml'; did you mean 'study.yaml'?")
    assert read_message(".") == "'.' is a folder, not a file; did you mean 'study.yaml'?"
    assert read_message("none/a.yaml") == "no such file: 'none/a.yaml'; check the path"
    assert read_message("study.yaml") == (
        "study.yaml:2:4: byte 0xff; a study is UTF-8 text; save the file as UTF-8"
    )
    assert read_message("large").startswith("large:1:1: more; a study has at most")
    assert "cannot be read: embedded null byte" in read_message("a\0b")


@pytest.mark.parametrize(
    ("path", "value", "where", "expected"),
    [
        ("workload.rate", "73 Gbps", ("workload", "rate"), "73 Gbps"),
        ("workload.streams", "8", ("workload", "streams"), 8),
        ("search.seed", "1", ("search", "seed"), 1),
        ("question", "'a: b'", ("question",), "a: b"),
        ("stages.0.instances", "[1, 2]", ("stages", 0, "instances"), [1, 2]),
        ("stages.des.clock", "1 GHz", ("stages", 0, "clock"), "1 GHz"),
        ("stages.transform.core", "jacobi", ("stages", 1, "core"), "jacobi"),
        ("stages.1", "{core: des}", ("stages", 1), {"core": "des"}),
        ("axes.interface.device", "c", ("axes", "interface.device"), "c"),
        ("axes.workload.rate", "[1, 2]", ("axes", "workload.rate"), [1, 2]),
        ("sweep.workload.rate", "[1]", ("sweep", "workload.rate"), [1]),
        ("constraints.0", "area_m2 < 2 mm2", ("constraints", 0), "area_m2 < 2 mm2"),
    ],
)
def test_override(path, value, where, expected):
    before = document.parse_document(SAMPLE, "s.yaml")
    after = document.override_value(before, path, value)
    found = after.data
    for key in where:
        found = found[key]
    assert found == expected
    assert before.data == document.parse_document(SAMPLE, "s.yaml").data
    fault = after.fault(where, "w", "rule", "remedy")
    assert str(fault) == f"{fault.where}: w; rule; remedy"


def test_an_override_replaces_the_positions_below_it():
    found = document.parse_document(SAMPLE, "s.yaml")
    after = document.override_value(found, "stages", "[{core: fft}]")
    assert {path for path in after.positions if path[0] == "stages"} == {
        ("stages",),
        ("stages", 0),
        ("stages", 0, "core"),
    }
    assert after.positions["stages", 0, "core"] == document.NOWHERE
    assert after.positions["workload", "rate"] == (3, 3, "s.yaml")


def test_a_name_that_two_items_share_picks_neither():
    found = document.parse_document("stages: [{core: des}, {core: des}]", "s.yaml")
    with pytest.raises(StudyError, match="there is no 'des' in 'stages'; its items are 0 to 1"):
        document.override_value(found, "stages.des.clock", "1 GHz")


def test_the_longest_key_is_meant():
    found = document.parse_document("axes: {a: {b.c: 1}, a.b: {c: 2}}", "s.yaml")
    assert document.override_value(found, "axes.a.b.c", "3").data == {
        "axes": {"a": {"b.c": 1}, "a.b": {"c": 3}}
    }
