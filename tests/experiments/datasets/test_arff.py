"""ARFF files and Mulan's label lists: what is read, and what is refused by file and line."""

import bz2
import gzip
import lzma

import arff as liac
import numpy as np
import pytest
from own_data import READERS
from scipy import sparse

from experiments.datasets import DatasetError, load
from experiments.datasets.download import Content
from experiments.datasets.readers.arff import label_list, parse
from experiments.errors import ConfigError

DENSE = """% a comment
@relation 'small: -C 2'
@attribute 'a b' numeric
@ATTRIBUTE\tcolour {red, 'dark green', blue}
@attribute c INTEGER
@attribute 'It\\'s' {0,1}
@attribute class {no,yes}

@data
1.5,red,3,0,yes

% another comment
-2,'dark green',4,1,no
0,?,5,1,yes
"""

SPARSE = """@relation r
@attribute L1 {0,1}
@attribute w1 numeric
@attribute mid {1,0}
@attribute w2 {0,1}
@attribute kind {x,y,z}
@DATA

{0 1,1 2.5}
{2 0}
{3 1,4 z}
{ }
"""


def table(text, name="small.arff"):
    return parse(text.encode() if isinstance(text, str) else text, name)


def block(path="small.arff", reader="arff", task="multiclass", **settings):
    source = {"_target_": READERS[reader], **settings}
    if path:
        source["path"] = path
    return {"name": "small", "task": task, "source": source}


def write(folder, **files):
    for name, text in files.items():
        content = text.encode() if isinstance(text, str) else text
        (folder / name.replace("__", ".")).write_bytes(content)
    return folder


# --- reading


def test_dense_file():
    read = table(DENSE)
    assert read.names == ["a b", "colour", "c", "It's", "class"]
    assert read.values == [None, ["red", "dark green", "blue"], None, ["0", "1"], ["no", "yes"]]
    assert np.array_equal(
        read.table, [[1.5, 0, 3, 0, 1], [-2, 1, 4, 1, 0], [0, np.nan, 5, 1, 1]], equal_nan=True
    )


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("'say \"hi\"'", 'say "hi"'),
        ("'\"hi\" she said'", '"hi" she said'),
        ('"the dogs\'"', "the dogs'"),
        ('"\'"', "'"),
        ("'it\\'s'", "it's"),
        ("'say \\'hi\\''", "say 'hi'"),
        ("'say 'hi''", "say 'hi'"),
        ('"a \\"b\\""', 'a "b"'),
        ("it's", "it's"),
        ("dogs'", "dogs'"),
        ("'a{b}, %'", "a{b}, %"),
        ("' a  b '", "a  b"),
    ],
)
@pytest.mark.parametrize("kind", ["numeric", "{'x y', 'z'}", "{0,1}"])
def test_a_name_has_one_pair_of_quotation_marks(written, name, kind):
    read = table(f"@relation r\n@attribute {written} {kind}\n@attribute 'last one' {kind}\n@data\n")
    assert read.names == [name, "last one"]
    assert (
        read.values[0] == {"{": kind[1:-1].replace("'", "").replace(", ", ",").split(","), "n": None}[kind[0]]
    )


def test_line_ends_do_not_matter():
    for other in (DENSE.replace("\n", "\r\n"), DENSE.rstrip("\n"), "\ufeff" + DENSE):
        assert np.array_equal(table(other).table, table(DENSE).table, equal_nan=True)


def test_sparse_file_stays_sparse_and_leaves_out_first_values():
    read = table(SPARSE)
    assert sparse.issparse(read.table) and read.table.shape == (4, 5)
    # places in the lists of values: "mid" has 1 first, so what is left out is a 1
    assert read.table.toarray().tolist() == [[1, 2.5, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 2], [0] * 5]


def test_dense_and_sparse_notation_give_the_same():
    dense = SPARSE.split("@DATA")[0] + "@DATA\n1,2.5,1,0,x\n0,0,0,0,x\n0,0,1,1,z\n0,0,1,0,x\n"
    assert np.array_equal(table(dense).table, table(SPARSE).table.toarray())


def test_labels_are_found_by_name_wherever_they_stand(tmp_path):
    write(tmp_path, small__arff=SPARSE)
    data = load(block(task="multilabel", labels=["w2", "mid", "L1"]), tmp_path)
    assert data.class_names == ("L1", "mid", "w2")  # the file's order
    assert data.y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 1], [0, 1, 0]]
    # x and z are met, y is not: one column, that of the first of the two
    assert data.feature_names == ("w1", "kind=x")
    dense = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert dense.tolist() == [[2.5, 1], [0, 1], [0, 0], [0, 1]]


def test_class_by_name_or_place_and_one_hot_columns(tmp_path):
    text = DENSE.replace("0,?,5", "0,blue,5")
    write(tmp_path, small__arff=text)
    data = load(block(target="class"), tmp_path)
    assert data.class_names == ("no", "yes") and data.y.tolist() == [1, 0, 1]
    assert data.feature_names == ("a b", "colour=blue", "colour=dark green", "colour=red", "c", "It's")
    assert data.X.tolist() == [[1.5, 0, 0, 1, 3, 0], [-2, 0, 1, 0, 4, 1], [0, 1, 0, 0, 5, 1]]
    assert load(block(target=-1), tmp_path).checksum == data.checksum
    kept = load(block(target="class", leave_out=["colour", "c"]), tmp_path)
    assert kept.feature_names == ("a b", "It's")


def test_class_is_told_by_its_name_not_by_the_order_of_its_values(tmp_path):
    write(tmp_path, small__arff=DENSE.replace("{no,yes}", "{yes,no}").replace("0,?,5", "0,red,5"))
    assert load(block(target="class"), tmp_path).y.tolist() == [1, 0, 1]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_packings_are_told_by_content(tmp_path, pack):
    write(tmp_path, small__arff=pack(SPARSE.encode()))
    assert load(block(target="kind"), tmp_path).X.shape == (4, 4)


def test_missing_values_are_refused_filled_or_left_out(tmp_path):
    write(tmp_path, small__arff=DENSE)
    with pytest.raises(DatasetError, match=r"row 2, column 'colour' is missing.*dataset.missing"):
        load(block(target="class"), tmp_path)
    left = load({**block(target="class"), "missing": "drop_rows"}, tmp_path)
    assert left.X.shape == (2, 4) and left.y.tolist() == [1, 0]
    filled = load({**block(target="class"), "missing": "most_frequent"}, tmp_path)
    # red and green are met once each: the first of the file's values
    assert filled.X[:, 1].tolist() == [0, 1, 0] and filled.feature_names[1] == "colour=dark green"
    with pytest.raises(ConfigError, match="did you mean most_frequent"):
        load({**block(target="class"), "missing": "most_frequnt"}, tmp_path)


# --- Mulan

LABELLED = """@relation r
@attribute f1 numeric
@attribute f2 {0,1}
@attribute l1 {0,1}
@attribute 'l \\'2' {0,1}
@attribute l3 {0,1}
@data
{0 1.5,2 1}
{1 1,3 1,4 1}
{}
"""
LIST = (
    '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
    '<label name="l3"/><label name="l \'2"><label name="l1"/></label></labels>'
)


def mulan(n_labels=None, names=("small.arff", "small.xml")):
    settings = {"files": [{"path": name} for name in names]}
    if n_labels:
        settings["n_labels"] = n_labels
    return block(None, "mulan", "multilabel", **settings)


def test_labels_of_a_list_nested_ones_too(tmp_path):
    write(tmp_path, small__arff=LABELLED, small__xml=LIST)
    data = load(mulan(3), tmp_path)
    assert data.class_names == ("l1", "l '2", "l3") and data.feature_names == ("f1", "f2")
    assert data.y.toarray().tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]


def test_parts_follow_one_another(tmp_path):
    write(tmp_path, a__arff=LABELLED, b__arff=LABELLED.replace("{}\n", ""), small__xml=LIST)
    data = load(mulan(3, ("a.arff", "b.arff", "small.xml")), tmp_path)
    assert data.X.shape == (5, 2) and np.diff(data.y.indptr).tolist() == [1, 2, 0, 1, 2]
    write(tmp_path, b__arff=LABELLED.replace("f2", "f3"))
    with pytest.raises(DatasetError, match=r"b\.arff has other attributes than .*a\.arff"):
        load(mulan(3, ("a.arff", "b.arff", "small.xml")), tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('<label name="l1"/>', "", r"small\.xml lists 2 labels, not 3; beside .*small\.arff has 'l1'"),
        ("l '2", "l 2", r"no attribute for the label 'l 2' that .*small\.xml lists"),
        ('"l3"', '"l1"', r"small\.xml lists the label 'l1' twice"),
        ("</labels>", "", r"small\.xml is no XML"),
        ('<label name="l3"/>', "<label/>", r"a label has no name"),
        ('<?xml version="1.0"?>', '<!DOCTYPE labels [<!ENTITY a "b">]>', r"declares a document type"),
    ],
)
def test_bad_label_list(tmp_path, old, new, says):
    assert old in LIST
    write(tmp_path, small__arff=LABELLED, small__xml=LIST.replace(old, new))
    with pytest.raises(DatasetError, match=says):
        load(mulan(3), tmp_path)


def test_label_that_the_list_forgot_is_named(tmp_path):
    forgetful = LIST.replace("""<label name="l '2"><label name="l1"/></label>""", '<label name="l1"/>')
    write(tmp_path, small__arff=LABELLED, small__xml=forgetful)
    with pytest.raises(DatasetError, match=r"""small\.xml does not list "l '2".*between labels"""):
        load(mulan(), tmp_path)


def test_a_list_that_is_html_is_no_list():
    with pytest.raises(DatasetError, match="no labels in it"):
        label_list(Content("page.xml", b"<html><body>Not found</body></html>", ""))


# --- bad files


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "-2,'dark green',4,1,no",
            "-2,'dark green',4,1",
            "line 13: the row does not fit the attributes: -2,",
        ),
        ("-2,'dark green',4,1,no", "-2,'dark green',4,1,no,7", "line 13: the row does not fit"),
        ("-2,", "two,", "line 13: 'two' is not a number"),
        ("'dark green',4", "purple,4", "line 13: 'purple' is not among the values"),
        ("'dark green',4", "'dark green,4", "line 13"),
        (
            "c INTEGER",
            "c DATE",
            "line 5: attributes of this type are not read: @attribute c DATE; those read are",
        ),
        ("@attribute c INTEGER", "@attribute class INTEGER", "line 7: attribute 'class' is declared twice"),
        (
            "c INTEGER",
            "c real [0,1]",
            "line 5: attributes of this type are not read: @attribute c real [0,1];",
        ),
        ("@data", "@dada", "no @data line before @dada: is it ARFF, and whole?"),
    ],
)
def test_bad_dense_file(old, new, says):
    assert old in DENSE
    with pytest.raises(DatasetError) as caught:
        table(DENSE.replace(old, new))
    assert "small.arff" in str(caught.value) and says in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{2 0}", "{5 1}", "line 10: the row does not fit the attributes: {5 1}"),
        ("{2 0}", "0,0,0,0,x", "line 10"),
        ("{2 0}", "{2 7}", "line 10: '7' is not among the values"),
        ("1 2.5", "1 much", "line 9: 'much' is not a number"),
        ("{2 0}", "{2 0", "line 10"),
        ("{2 0}", "{2 0,1 3,2 1}", "line 10: index 2 stands twice in the row"),
    ],
)
def test_bad_sparse_file(old, new, says):
    assert old in SPARSE
    with pytest.raises(DatasetError) as caught:
        table(SPARSE.replace(old, new))
    assert "small.arff" in str(caught.value) and says in str(caught.value)


def test_names_that_are_not_utf8_are_told_by_line():
    bad = DENSE.replace("colour", "couleur \u00e9", 1).encode("latin-1")
    with pytest.raises(DatasetError, match=r"small\.arff, line 4: not UTF-8"):
        table(bad)


@pytest.mark.parametrize("text", ["", "<!DOCTYPE html>\n<html>no data here</html>\n"])
def test_what_is_no_arff(text):
    with pytest.raises(
        DatasetError, match=r"small\.arff: no @RELATION, @ATTRIBUTE or @DATA line found: is it ARFF\?"
    ):
        table(text)


def test_what_cannot_be_found(tmp_path):
    write(tmp_path, small__arff=DENSE)
    with pytest.raises(
        DatasetError, match=r"small\.arff has no attribute for the class 'clas'; did you mean class"
    ):
        load(block(target="clas"), tmp_path)
    with pytest.raises(DatasetError, match="5 attributes, so there is no attribute 5"):
        load(block(target=5), tmp_path)
    with pytest.raises(DatasetError, match="label 'colour' has other values than 0 and 1"):
        load(block(task="multilabel", labels=["colour", "It's"]), tmp_path)
    write(tmp_path, small__arff=DENSE.replace("?", "red"))
    with pytest.raises(DatasetError, match="label 'c' is 3, neither 0 nor 1"):
        load(block(task="multilabel", labels=["c", "It's"]), tmp_path)
    with pytest.raises(ConfigError, match=r"either target .* or labels"):
        load(block(), tmp_path)


def test_text_is_no_feature(tmp_path):
    write(tmp_path, small__arff=DENSE.replace("c INTEGER", "c STRING").replace("0,?,5", "0,red,5"))
    with pytest.raises(DatasetError, match="attribute 'c' is text"):
        load(block(target="class"), tmp_path)
    assert load(block(target="class", leave_out=["c"]), tmp_path).X.shape == (3, 3)


def test_text_is_a_class(tmp_path):
    text = DENSE.replace("class {no,yes}", "class STRING").replace("0,?,5", "0,red,5")
    write(tmp_path, small__arff=text)
    data = load(block(target="class"), tmp_path)
    assert data.class_names == ("no", "yes") and data.y.tolist() == [1, 0, 1]
    write(
        tmp_path, a__arff=text, b__arff=text.replace("4,1,no", "4,1,'per haps'").replace("3,0,yes", "3,0,no")
    )
    parts = load(block(None, target="class", files=[{"path": "a.arff"}, {"path": "b.arff"}]), tmp_path)
    assert parts.class_names == ("no", "per haps", "yes") and parts.y.tolist() == [2, 0, 2, 0, 1, 2]
    write(tmp_path, small__arff=text.replace("4,1,no", "4,1,?"))
    with pytest.raises(DatasetError, match=r"1 row has no class \('class'\)"):
        load(block(target="class"), tmp_path)
    write(tmp_path, small__arff=SPARSE.replace("kind {x,y,z}", "kind STRING"))
    with pytest.raises(DatasetError, match="class 'kind' is text in a sparse file; declare it"):
        load(block(target="kind"), tmp_path)


def test_a_line_is_named_once():
    for old, new in (("-2,", "two,"), ("'dark green',4", "purple,4"), ("-2,'dark green'", "-2,'dark green")):
        with pytest.raises(DatasetError) as caught:
            table(DENSE.replace(old, new, 1))
        assert str(caught.value).count("line") == 1, str(caught.value)


def test_an_index_within_quotes_is_no_index():
    text = SPARSE.replace("{x,y,z}", "{x,'a, 3 b'}").replace(",4 z}", ",4 'a, 3 b'}")
    assert table(text).table.toarray()[2].tolist() == [0, 0, 0, 1, 1]


def test_no_rows(tmp_path):
    write(tmp_path, small__arff=DENSE.partition("@data")[0] + "@data\n")
    with pytest.raises(DatasetError, match="empty"):
        load(block(target="class"), tmp_path)


@pytest.mark.parametrize("text", [DENSE, SPARSE, LABELLED, DENSE.replace("INTEGER", "REAL")])
def test_the_package_liac_arff_reads_the_same(text):
    """The oracle; it cuts fractions off in attributes declared as integer, of which there are none here."""
    read, header = table(text), liac.loads(text.replace("\t", " "), encode_nominal=True)
    assert [name.strip() for name, _ in header["attributes"]] == [
        name.replace("'", "\\'") for name in read.names
    ]
    dense = liac.loads(text.replace("\t", " "), encode_nominal=True, return_type=liac.DENSE)["data"]
    ours = read.table.toarray() if sparse.issparse(read.table) else read.table
    assert np.array_equal(ours, np.array(dense, dtype=float), equal_nan=True)
