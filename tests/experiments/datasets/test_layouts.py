"""Data sets of which no copy was at hand: small files in the layout of the sources, through their YAML files."""

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from stated_datasets import stated, well_formed

from experiments.datasets import DatasetError, load
from experiments.errors import MissingFileError
from experiments.paths import source_blocks, source_paths

QUANTITIES = ("rows", "features", "classes")


def put(folder, path, content):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)


def loaded(name, folder, *, rows, features, classes):
    """Load through the data set's own YAML file, of which only the sizes are others."""
    block = stated(name)
    assert block["expected"].get("nonzero_share") is None  # nobody has measured it
    block["expected"] = dict(zip(QUANTITIES, (rows, features, classes), strict=True))
    data = load(block, folder, download=False)
    well_formed(data)
    assert data.origin == "local"
    return data


def test_har(tmp_path):
    head = "@RELATION har\n" + "".join(f"@ATTRIBUTE V{number} REAL\n" for number in (1, 2, 3))
    rows = "0.28,-0.02,0,1\n-1,0.5,0.25,6\n0.1,0.2,-0.3,2\n"
    put(tmp_path, "har/php88ZB4Q.arff", f"{head}@ATTRIBUTE Class {{1,2,3,4,5,6}}\n@DATA\n{rows}")
    data = loaded("har", tmp_path, rows=3, features=3, classes=3)
    assert data.class_names == ("1", "2", "6") and data.y.tolist() == [0, 2, 1]
    assert data.X[1].tolist() == [-1, 0.5, 0.25]


def test_pd_speech_features(tmp_path):
    text = ",,Baseline Features,,MFCC,\nid,gender,PPE,DFA,mean_1,class\n"
    text += "0,1,0.85,0.71,1.5,1\n0,1,0.76,0.69,0,1\n1,0,0.8,0.6,2,0\n"
    put(tmp_path, "pd_speech_features/pd_speech_features.csv", text)
    data = loaded("pd_speech_features", tmp_path, rows=3, features=4, classes=2)
    assert data.feature_names == ("gender", "PPE", "DFA", "mean_1")
    assert data.y.tolist() == [1, 1, 0] and data.X[2].tolist() == [0, 0.8, 0.6, 2]


def test_ap_ovary_kidney(tmp_path):
    text = (
        "@relation AP_Ovary_Kidney\n@attribute ID_REF string\n@attribute 1007_s_at real\n"
        "@attribute 1053_at real\n@attribute Tissue {Ovary,Kidney}\n@data\n"
        "GSM88952,4.5,2,Ovary\nGSM89067,1,8.25,Kidney\n"
    )
    put(tmp_path, "ap_ovary_kidney/AP_Ovary_Kidney.arff", text)
    data = loaded("ap_ovary_kidney", tmp_path, rows=2, features=2, classes=2)
    assert data.class_names == ("Kidney", "Ovary") and data.y.tolist() == [1, 0]
    assert data.feature_names == ("1007_s_at", "1053_at") and data.X.tolist() == [[4.5, 2], [1, 8.25]]


OHSCAL = (
    "@RELATION ohscal.wc\n@ATTRIBUTE word-0 REAL\n@ATTRIBUTE word-1 REAL\n@ATTRIBUTE word-2 REAL\n"
    "@ATTRIBUTE CLASS_LABEL {Antibodies,Carcinoma,DNA}\n@DATA\n\n{1 2}\n{0 1,3 DNA}\n{3 Carcinoma}\n"
)


def test_ohscal_as_arff_and_as_cluto(tmp_path):
    put(tmp_path, "ohscal/ohscal.wc.arff", OHSCAL)
    data = loaded("ohscal", tmp_path, rows=3, features=3, classes=3)
    assert sparse.issparse(data.X)
    assert data.class_names == ("Antibodies", "Carcinoma", "DNA") and data.y.tolist() == [0, 2, 1]
    (tmp_path / "ohscal" / "ohscal.wc.arff").unlink()
    put(tmp_path, "ohscal/sparse_ohscal.txt", "3 3\n1 1 2\n1 0 1\n0\n")
    put(tmp_path, "ohscal/ohscal_correct.txt", "1 0 0\n0 0 1\n0 1 0\n")
    other = loaded("ohscal", tmp_path, rows=3, features=3, classes=3)
    assert other.checksum == data.checksum


def test_genes(tmp_path):
    put(tmp_path, "genes/data.csv", ",gene_0,gene_1,gene_2\nsample_0,0,2.01,3.2\nsample_1,0,0.59,1.5\n")
    put(tmp_path, "genes/labels.csv", ",Class\nsample_0,PRAD\nsample_1,LUAD\n")
    data = loaded("genes", tmp_path, rows=2, features=3, classes=2)
    assert data.class_names == ("LUAD", "PRAD") and data.y.tolist() == [1, 0]
    # gene_0 is 0 everywhere and stays, as in the paper
    assert data.feature_names == ("gene_0", "gene_1", "gene_2") and data.X[0].tolist() == [0, 2.01, 3.2]
    put(tmp_path, "genes/labels.csv", ",Class\nsample_0,PRAD\n")
    with pytest.raises(DatasetError, match="1 labels for 2 rows"):
        loaded("genes", tmp_path, rows=2, features=3, classes=2)


def test_genes_needs_both_files(tmp_path):
    put(tmp_path, "genes/data.csv", ",gene_0\nsample_0,0\n")
    with pytest.raises(MissingFileError, match=r"genes.labels\.csv not found"):
        load(stated("genes"), tmp_path, download=False)


@pytest.mark.parametrize("name", ["education1", "health1", "entertainment1", "social1"])
def test_yahoo_in_both_forms(name, tmp_path):
    block = stated(name)
    n_labels = block["expected"]["classes"]
    rng = np.random.default_rng(3)
    X = rng.poisson(0.3, size=(6, 5)).astype(float)
    T = (rng.random((6, n_labels)) < 0.2).astype(np.int8)
    file = name.capitalize()
    (tmp_path / name).mkdir()
    savemat(
        tmp_path / name / f"{file}.mat",
        {"input_space": sparse.csc_matrix(X), "target_space": sparse.csc_matrix(T)},
    )
    data = loaded(name, tmp_path, rows=6, features=5, classes=n_labels)
    assert np.array_equal(data.y.toarray(), T)
    (tmp_path / name / f"{file}.mat").unlink()
    lines = ["@relation x", *(f"@attribute w{column} numeric" for column in range(5))]
    lines += [f"@attribute 'News and Media {label}' {{0,1}}" for label in range(n_labels)]
    lines.append("@data")
    for row in np.hstack([X, T]):
        lines.append("{" + ",".join(f"{place} {row[place]:g}" for place in np.flatnonzero(row)) + "}")
    put(tmp_path, f"{name}/{file}.arff", "\n".join(lines))
    labels = "".join(f'<label name="News and Media {label}"></label>' for label in range(n_labels))
    put(
        tmp_path,
        f"{name}/{file}.xml",
        f'<labels xmlns="http://mulan.sourceforge.net/labels">{labels}</labels>',
    )
    other = loaded(name, tmp_path, rows=6, features=5, classes=n_labels)
    assert other.checksum == data.checksum and other.class_names[0] == "News and Media 0"


def test_p53_leaves_out_what_could_not_be_modelled(tmp_path):
    put(tmp_path, "p53/K8.data", "-0.1,0.013,2,inactive,\n?,?,?,inactive,\n0.3,0,1,active,\n")
    data = loaded("p53", tmp_path, rows=2, features=3, classes=2)
    assert data.class_names == ("active", "inactive") and data.y.tolist() == [1, 0]
    assert data.X.tolist() == [[-0.1, 0.013, 2], [0.3, 0, 1]]


def test_biodeg_p2_discrete(tmp_path):
    text = (
        "@relation b\n@attribute A0_br1c numeric\n@attribute logP numeric\n@attribute y {fast,slow}\n@data\n"
    )
    put(tmp_path, "biodeg_p2_discrete/biodeg-p2-discrete.arff", text + "1,2.5,fast\n0,1,slow\n")
    data = loaded("biodeg_p2_discrete", tmp_path, rows=2, features=2, classes=2)
    assert data.feature_names == ("A0_br1c", "logP")


def test_the_error_without_biodeg_says_where_to_put_what(tmp_path):
    with pytest.raises(MissingFileError) as caught:
        load(stated("biodeg_p2_discrete"), tmp_path)
    message = str(caught.value)
    place = tmp_path / "biodeg_p2_discrete" / "biodeg-p2-discrete.arff"
    for part in (
        str(place),
        "no public copy is known",
        "ARFF with 61 numeric attributes",
        "paths.local_data=FOLDER",
    ):
        assert part in message
    assert len(message.splitlines()) == 2


@pytest.mark.parametrize("name", ["ohscal", "education1"])
def test_when_all_sources_fail_one_error_names_them_all(name, tmp_path):
    with pytest.raises(MissingFileError) as caught:
        load(stated(name), tmp_path, download=False)
    message = str(caught.value)
    for block in source_blocks(stated(name)):
        assert str(tmp_path / source_paths(block)[0]) in message
    assert len(message.splitlines()) == 2 and "it comes from" in message


def test_a_damaged_first_source_is_told_and_not_passed_over(tmp_path):
    put(tmp_path, "ohscal/ohscal.wc.arff", OHSCAL.replace("{1 2}", "{9 2}"))
    put(tmp_path, "ohscal/sparse_ohscal.txt", "3 3\n1 1 2\n1 0 1\n0\n")
    put(tmp_path, "ohscal/ohscal_correct.txt", "1 0 0\n0 0 1\n0 1 0\n")
    with pytest.raises(DatasetError, match=r"ohscal\.wc\.arff, line 8"):
        loaded("ohscal", tmp_path, rows=3, features=3, classes=3)
