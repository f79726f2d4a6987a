"""Weights and spans in the data: their names in dataset_info.json, valid rows, and errors that name the row and the
fix.
"""

import json
import math

import pytest
from data_sets import CHAT_TAGS, write_data_set

from cuset_stage.stage.dataset import find_fault
from cuset_stage.stage.given import GivenResponse, GivenRow, GivenSpan, giving_dataset_list, read_given
from cuset_stage.text import InputError

from .conftest import data_args


ASKED = {"role": "user", "content": "Go on."}
TAGS = CHAT_TAGS | {"loss_weight_tag": "loss_weight", "spans_tag": "spans", "function_tag": "call"}
MESSAGES = {"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": TAGS}
TURNS = {"prompt": "instruction", "response": "output", "history": "history"}
COLUMNS = {**TURNS, "weight": "importance", "spans": "passages"}


@pytest.fixture
def names(tmp_path):
    """A function that reads an entry of dataset_info.json as LLaMA-Factory and we do."""

    def read(entry):
        write_data_set(tmp_path, "mine", [], **entry)
        return giving_dataset_list(["mine"], str(tmp_path))[0]

    return read


@pytest.fixture
def alpaca(names):
    return names({"columns": COLUMNS})


@pytest.fixture
def chat(names):
    return names(MESSAGES)


def row(**changes):
    return {"instruction": "Add.", "output": "x += 1;", "importance": 2, "passages": [], **changes}


def messages(*said):
    """Return a row with a conversation.

    Each of `said` has the keys of an assistant message that differ from the usual ones.
    """
    answers = ({"role": "assistant", "content": "x += 1;", **each} for each in said)
    return {"messages": [message for answer in answers for message in (ASKED, answer)]}


def test_a_row_gives_a_weight_and_spans_of_its_last_response(alpaca):
    spans = [{"start": 0, "end": 1, "weight": 0.5, "kind": None}]
    spans.append({"start": 2, "end": 7, "weight": None, "kind": "atomic"})
    found = read_given(row(passages=spans, history=[["Hi.", "Hello."]]), alpaca)
    said = GivenResponse(1.0, (GivenSpan(0, 1, 0.5), GivenSpan(2, 7, None, "atomic")))
    assert found == GivenRow(2.0, (GivenResponse(), said))


def test_each_assistant_message_gives_its_own(chat):
    first = {"loss_weight": 0.5, "spans": [{"start": 0, "end": 7, "weight": 0}]}
    found = read_given(messages(first, {"loss_weight": True, "spans": []}), chat)
    assert found == GivenRow(1.0, (GivenResponse(0.5, (GivenSpan(0, 7, 0.0),)), GivenResponse(1.0)))


def test_a_row_comes_back_from_its_text():
    given = GivenRow(
        1 / 3, (GivenResponse(), GivenResponse(0.1, (GivenSpan(1, 2, 1 / 7), GivenSpan(0, 9, None, "atomic"))))
    )
    assert GivenRow.from_text(given.to_text()) == given
    assert GivenRow.from_text(None) == GivenRow()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"importance": None}, r"'importance', the weight column, is missing\. Give every row and response one"),
        ({"importance": -1}, r"'importance', the weight column, is -1; expected a number of at least 0"),
        ({"importance": math.nan}, "is nan; expected a number of at least 0"),
        ({"importance": 1e39}, r"is 1e\+39; expected a number of at least 0 and at most 1e\+09"),
        ({"passages": None}, r"'passages', the spans column, is missing\. Give \[\] where there are none"),
        ({"passages": {"start": 0}}, "expected a list of spans"),
        ({"passages": [{"start": 0, "end": 1}]}, r"has .*; expected .*with a weight, a kind, or both"),
        ({"passages": [{"start": 0, "end": 1, "wieght": 1}]}, "has a span with 'wieght'"),
        ({"passages": [{"start": 0, "end": 1, "weight": -1}]}, "the weight of .* is -1; expected a number"),
        ({"passages": [{"start": 0, "end": 1, "kind": "atomics"}]}, "is no kind of span; did you mean atomic"),
        ({"passages": [{"start": 5, "end": 8, "weight": 1}]}, "the span 5 to 8 of assistant message 1 is not within its 7 characters"),
        ({"passages": [{"start": -1, "end": 3, "kind": "atomic"}]}, "the span -1 to 3 .* is not within"),
        (
            {"passages": [{"start": 3, "end": 6, "weight": 1}, {"start": 0, "end": 4, "weight": 2}]},
            r"the spans 0 to 4 and 3 to 6 of assistant message 1 overlap, and both have a weight\. Cut one of them",
        ),
    ],
)  # fmt: skip
def test_a_wrong_value_is_an_error_with_the_fix(alpaca, changes, problem):
    with pytest.raises(InputError, match=problem):
        read_given(row(**changes), alpaca)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"spans": []}, "'loss_weight' of assistant message 2, is missing"),
        ({"loss_weight": 1}, "'spans' of assistant message 2, is missing"),
        ({"loss_weight": -2, "spans": []}, "'loss_weight' of assistant message 2, is -2"),
        ({"loss_weight": 1, "spans": [{"start": 0, "end": 9, "weight": 1}]}, "the span 0 to 9 of assistant message 2"),
        (
            {"role": "call", "loss_weight": 1, "spans": [{"start": 0, "end": 1, "weight": 1}]},
            "the spans of assistant message 2 are of a tool call",
        ),
    ],
)
def test_a_wrong_message_is_named(chat, said, problem):
    with pytest.raises(InputError, match=problem):
        read_given(messages({"loss_weight": 1, "spans": []}, said), chat)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"columns": {"prompt": "instruction", "wieght": "w"}}, "'wieght' under columns of mine.json: .*did you mean weight"),
        (
            {"formatting": "sharegpt", "columns": {"messages": "m"}, "tags": {**CHAT_TAGS, "loss_weights_tag": "w"}},
            "did you mean loss_weight_tag",
        ),
        ({"columns": {"prompt": "instruction"}, "tags": {"weight": "w"}}, "'weight' stands under tags of .*belongs under columns"),
        ({"columns": {"messages": "m", "spans_tag": "w"}}, "'spans_tag' stands under columns of .*belongs under tags"),
        ({"columns": {"prompt": "instruction"}, "spans": "w"}, "'spans' stands beside columns and tags of .*under columns"),
        ({"columns": {"prompt": "instruction"}, "tags": {"loss_weight_tag": "w"}}, "name the columns `weight` and `spans`"),
        ({"columns": {"weight": "w"}}, "mine.json does not name response: "),
        ({"formatting": "sharegpt", "tags": {"role_tag": "from", "loss_weight_tag": "w"}}, "not name content_tag, user_tag, assistant_tag"),
    ],
)  # fmt: skip
def test_a_wrong_name_in_dataset_info_is_an_error(names, entry, problem):
    with pytest.raises(InputError, match=problem):
        names(entry)


def test_llama_factory_reads_the_rest_of_the_entry_as_ever(names, tmp_path):
    from llamafactory.data.parser import get_dataset_list

    ours = names(
        {"formatting": "sharegpt", "columns": {"messages": "m", "weight": "w"}, "tags": TAGS, "num_samples": 3}
    )
    theirs = vars(get_dataset_list(["mine"], str(tmp_path))[0])
    named = {"weight": "w", "spans": None, "loss_weight_tag": "loss_weight", "spans_tag": "spans"}
    assert vars(ours) == theirs | named
    assert str(ours) == "mine.json"


def test_the_fault_of_a_file_is_told_with_its_row(tmp_path):
    rows = [row(), row(), row(importance=None)]
    columns = {key: COLUMNS[key] for key in ("prompt", "response", "weight", "spans")}
    args = data_args(**write_data_set(tmp_path, "mine", rows, columns=columns))
    assert find_fault(args) == (
        f"{tmp_path / 'mine.json'}: row 3: 'importance', the weight column, is missing. Give every row and response one (1 changes "
        "nothing), or name no column."
    )
    for each in rows:
        del each["importance"]
    (tmp_path / "mine.json").write_text(json.dumps(rows))
    assert "no row has the key 'importance', which is the weight column of the data set mine" in find_fault(args)
    (tmp_path / "mine.json").unlink()
    assert find_fault(args) == f"cannot read {tmp_path / 'mine.json'}: No such file or directory."


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("mine.json", json.dumps([row(id=1), row(id="x")]), "'Conversion failed for column id with type object'"),
        ("mine.json", json.dumps([row(output="\ud800")]), "surrogates not allowed; expected"),
        ("mine.csv", "instruction,output\nAdd.,3\n", "row 1: 'output', the response column, is 3; expected text."),
        ("mine.csv", "instruction,output\nAdd.,x\nAdd.,3,4,5\n", "Expected 2 fields in line 3, saw 4; expected"),
    ],
)
def test_what_a_file_s_reader_finds_is_told(tmp_path, name, data, fault):
    args = data_args(**write_data_set(tmp_path, "mine", [], file_name=name, columns={"response": "output"}))
    (tmp_path / name).write_text(data)
    assert find_fault(args).startswith(f"{tmp_path / name}: ") and fault in find_fault(args)


@pytest.mark.parametrize(
    ("key", "form"), [("ranking", {"ranking": True}), ("kto_tag", {"columns": {"kto_tag": "label"}})]
)
def test_data_of_preferences_are_named(tmp_path, key, form):
    args = data_args(**write_data_set(tmp_path, "mine", [row(label=True)], **form))
    assert find_fault(args).startswith(f"dataset_info.json: mine has {key}, so its rows are preferences")


def test_an_entry_or_a_folder_that_is_not_data_is_told(tmp_path):
    assert "mine has formatting: alpacca; did you mean alpaca" in find_fault(
        data_args(**write_data_set(tmp_path, "mine", [row()], formatting="alpacca"))
    )
    args = data_args(**write_data_set(tmp_path, "mine", [row()], file_name="folder"))
    (tmp_path / "folder").mkdir()
    assert "folder: expected one or more files of one type (arrow, csv, " in find_fault(args)
    for name in ("a.json", "README.md"):
        (tmp_path / "folder" / name).write_text("[]")
    assert find_fault(args).endswith("; found README.md, a.json.")


SILENT = {"role": "assistant", "content": None, "loss_weight": 1, "spans": []}  # training drops such a row
RIGHT = {"messages": {"messages": [ASKED, SILENT]}, "history": row(history=[["Hi.", "Hello."]])}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"messages": None}, "'messages' is None; expected a list, of which each entry is an object with 'role' and 'content', both text."),
        ({"messages": 5}, "'messages' is 5; expected a list"),
        ({"messages": [None]}, "entry 1 of 'messages' is None; expected an object with 'role' and 'content', both text."),
        ({"messages": [["Hi.", "Hello."]]}, "entry 1 of 'messages' is ['Hi.', 'Hello.']; expected an object"),
        ({"messages": [{"role": "user", "content": None}]}, "entry 1 of 'messages' is {'role': 'user', 'content': None}; expected"),
        ({"messages": [ASKED, SILENT, ASKED, SILENT]}, "entry 2 of 'messages' is {'role': 'assista"),
        ({"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": ["x"]}]}, "entry 2 of 'messages' is {"),
        ({"history": [], "output": ["x"]}, "'output', the response column, is ['x']; expected text."),
        ({"history": 5}, "'history' is 5; expected a list, of which each entry is [question, answer], two texts."),
        ({"history": [["Hi."]]}, "entry 1 of 'history' is ['Hi.']; expected [question, answer], two texts."),
    ],
)  # fmt: skip
def test_columns_that_are_no_text_or_messages_are_told_with_their_row(tmp_path, change, problem):
    """The entry also names weights, since reading weights looks into the messages."""
    form = next(name for name in RIGHT if name in change)
    entry = MESSAGES if form == "messages" else {"columns": TURNS}
    found = find_fault(
        data_args(**write_data_set(tmp_path, "mine", [RIGHT[form], {**RIGHT[form], **change}], **entry))
    )
    assert found.startswith(f"{tmp_path / 'mine.json'}: row 2: {problem}")
