"""dataset.text: words of columns of free text are counted."""

import logging

import numpy as np
import pyarrow as pa
import pytest
from own_data import from_csv, from_parquet
from scipy import sparse

from experiments.errors import DatasetError

NOTES = ["Pain in the knee, pain", "", "The knee: no PAIN", "no fever", "Fever of the knee", "a fever"]
#: "in" and "of" occur in one sample, "a" is a single letter.
WORDS = ["fever", "knee", "no", "pain", "the"]


def counted():
    expected = np.zeros((len(NOTES), len(WORDS)))
    for row, note in enumerate(NOTES):
        plain = "".join(each.lower() if each.isalpha() else " " for each in note).split()
        for word in plain:
            if word in WORDS:
                expected[row, WORDS.index(word)] += 1
    return expected


def table(notes=NOTES, **more):
    lines = ["age,note,y"]
    lines += [f'{30 + row},"{note}",{"ab"[row % 2]}' for row, note in enumerate(notes)]
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_words_are_counted():
    data = from_csv(table(), "dataset.text=note")
    assert data.feature_names == ("age", *(f"note:{word}" for word in WORDS))
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert X[:, 0].tolist() == [30, 31, 32, 33, 34, 35]
    np.testing.assert_array_equal(X[:, 1:], counted())
    assert X[:, 4].tolist() == [2, 0, 1, 0, 0, 0]


def test_parquet_gives_the_same():
    columns = {"age": np.arange(30, 36), "note": [note or None for note in NOTES], "y": list("ababab")}
    data = from_parquet(pa.table(columns), "dataset.text=[note]")
    assert data.checksum == from_csv(table(), "dataset.text=note").checksum


def test_a_sample_has_the_same_counts_whatever_others_say():
    """Another text in one sample may change which words are features, not the counts of the others."""
    before = from_csv(table(), "dataset.text=note")
    after = from_csv(table([*NOTES[:-1], "knee knee swollen"]), "dataset.text=note")
    common = [name for name in before.feature_names if name in after.feature_names]
    assert common == ["age", "note:fever", "note:knee", "note:no", "note:pain", "note:the"]
    first, second = (
        sparse.csr_matrix(data.X).toarray()[:-1, [data.feature_names.index(name) for name in common]]
        for data in (before, after)
    )
    np.testing.assert_array_equal(first, second)


def test_groups_go_with_text():
    lines = table().splitlines()
    text = (
        "\n".join([f"{lines[0]},who", *(f"{line},p{row // 2}" for row, line in enumerate(lines[1:]))]) + "\n"
    )
    data = from_csv(text, "dataset.text=note", "dataset.groups=who")
    assert data.assignment.numbers.tolist() == [0, 0, 1, 1, 2, 2]
    assert data.feature_names[1:] == tuple(f"note:{word}" for word in WORDS)


def test_numbers_in_text_are_words():
    data = from_csv(table(["100", "100 200", "200", "100", "300", "300"]), "dataset.text=note")
    assert data.feature_names[1:] == ("note:100", "note:200", "note:300")


def test_a_column_is_text_or_something_else():
    with pytest.raises(DatasetError, match=r"dataset\.text=\[note\] is named in dataset\.target too"):
        from_csv(table(), "dataset.text=note", target="note")
    with pytest.raises(DatasetError, match=r"dataset\.text=\[note\] is named in dataset\.nominal too"):
        from_csv(table(), "dataset.text=note", "dataset.nominal=note")


@pytest.mark.parametrize("cells", [["076", "12", "", "076", "3.5", "4"], ["1"] * 6])
def test_numbers_are_no_free_text(cells):
    said = r"dataset\.text=\[note\]: the column holds numbers, and dataset\.text is for free text"
    with pytest.raises(DatasetError, match=said):
        from_csv(table(cells), "dataset.text=note")
    with pytest.raises(DatasetError, match=said):
        from_parquet(
            pa.table({"note": [each or None for each in cells], "y": list("ababab")}), "dataset.text=note"
        )
    numbers = pa.table({"note": [None if each == "" else float(each) for each in cells], "y": list("ababab")})
    with pytest.raises(DatasetError, match=said):
        from_parquet(numbers, "dataset.text=note")


def test_text_without_a_common_word_is_refused():
    with pytest.raises(
        DatasetError, match=r"column 'note' no word occurs in two.*dataset\.leave_out=\[note\]"
    ):
        from_csv(table(["aa", "bb", "cc", "dd", "ee", "ff"]), "dataset.text=note")


def test_messages_of_text_name_the_key(caplog):
    notes = [f"note number {row} of the knee" for row in range(30)]
    with pytest.raises(DatasetError, match=r"another text in every row.*free text, dataset\.text=\[note\]"):
        from_csv(table(notes))
    notes[1] = notes[0]
    with caplog.at_level(logging.WARNING):
        from_csv(table(notes))
    assert "column note holds 29 different texts in 30 samples" in caplog.text
    assert "dataset.text=[note] counts its words" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        from_csv(table([f"kind {row % 4}" for row in range(30)]))
        from_csv(table(notes), "dataset.nominal=note")
    assert "dataset.text" not in caplog.text
