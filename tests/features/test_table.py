"""Columns of words, of text and with gaps as numbers: against what scikit-learn makes of them."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from oneslack.errors import FormatError
from oneslack.features.table import TableEncoder
from oneslack.formats.cells import read_cells

AGES = ["31", "", "29", "40", "NA", "27"]
CITIES = ["Rome", "Paris", "?", "Rome", "Oslo", "Paris"]
NOTES = ["good food, good wine", "bad", "so so, bad food", "", "fine wine", "Good!"]


@pytest.fixture
def cells(tmp_path):
    path = tmp_path / "people.csv"
    rows = zip(AGES, CITIES, NOTES, strict=True)
    path.write_text("age,city,note\n" + "".join(f'{a},{c},"{n}"\n' for a, c, n in rows))
    return read_cells(path)


def test_each_kind_is_what_scikit_learn_makes_of_it(cells):
    encoder = TableEncoder.learned(cells, categorical=["city"], text=["note"], missing="indicator")
    X = encoder.matrix(cells)
    ages = np.array([[float(a) if a not in ("", "NA") else np.nan] for a in AGES])
    numbers = SimpleImputer(add_indicator=True).fit_transform(ages)
    words = OneHotEncoder(categories=[["Oslo", "Paris", "Rome", "?"]], sparse_output=False)
    categories = words.fit_transform(np.array(CITIES)[:, None])
    text = TfidfVectorizer().fit(NOTES)
    assert np.allclose(X, np.hstack([numbers, categories, text.transform(NOTES).toarray()]))
    assert encoder.feature_names[:6] == [
        "age", "age is missing", "city=Oslo", "city=Paris", "city=Rome", "city is missing"
    ]  # fmt: skip
    assert encoder.feature_names[6:] == [f"note: {word}" for word in text.get_feature_names_out()]


def test_a_model_file_gives_the_same_back(cells):
    encoder = TableEncoder.learned(cells, categorical=["city"], text=["note"], missing="mean")
    again = TableEncoder.from_header(json.loads(json.dumps(encoder.to_header())))
    assert again == encoder
    assert np.array_equal(again.matrix(cells), encoder.matrix(cells))


@pytest.mark.parametrize("damage", [{"kind": "pickles"}, {"words": ["one"]}, {"idf": None}])
def test_a_damaged_one_is_refused(cells, damage):
    header = TableEncoder.learned(cells, leave_out=["age", "city"], text=["note"]).to_header()
    with pytest.raises((ValueError, TypeError, KeyError)):
        TableEncoder.from_header([header[0] | damage])


def test_columns_are_found_by_name_and_unseen_words_count_as_none(cells, tmp_path):
    encoder = TableEncoder.learned(cells, leave_out=["note"], categorical="auto", missing="mean")
    path = tmp_path / "other.csv"
    path.write_text("city,more,age\nRome,1,20\nBern,2,NA\n")
    with pytest.warns(UserWarning, match=r"other.csv, line 3, column 1 \(city\): 'Bern' did not occur"):
        X = encoder.matrix(read_cells(path))
    mean = np.mean([31, 29, 40, 27])
    assert X.tolist() == [[20.0, 0.0, 0.0, 1.0], [mean, 0.0, 0.0, 0.0]]


def test_gaps_and_words_are_refused_where_nothing_was_said(cells):
    with pytest.raises(FormatError, match=r"line 3, column 1 \(age\): the cell is empty.*--missing"):
        TableEncoder.learned(cells, leave_out=["city", "note"]).matrix(cells)
    with pytest.raises(FormatError, match=r"line 4, column 2 \(city\): the cell is empty.*--missing"):
        TableEncoder.learned(cells, leave_out=["age", "note"], categorical=["city"]).matrix(cells)
    with pytest.raises(FormatError, match=r"\(city\): 'Rome' is not a finite number.*--categorical city"):
        TableEncoder.learned(cells, missing="mean")


def test_many_features_of_words_are_sparse(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("a,b\n" + "".join(f"{i % 7},word{i % 300}\n" for i in range(600)))
    cells = read_cells(path)
    X = TableEncoder.learned(cells, categorical=["b"]).matrix(cells)
    assert X.format == "csr"
    assert X.shape == (600, 301)
    assert X[:, 1:].sum() == 600
    text = "a,b\n" + "".join(f"{i},name{i}\n" for i in range(60))
    path.write_text(text)
    with pytest.raises(FormatError, match=r"60 different values in 60 rows.*--drop b"):
        TableEncoder.learned(read_cells(path), categorical="auto")
