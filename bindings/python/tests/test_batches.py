"""Tables in batches, and the recipes for Dask and Spark: the same predictions as all rows at once."""

import sys

import ldlf
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from ldlf import LDLForest
from ldlf.datasets import make_mixture
from quick import quick

NAMES = ["a", "b", "c"]
HEADS = ["label_0", "label_1", "label_2", "label_3"]


@pytest.fixture
def rows():
    X, y = make_mixture(500, features=3, labels=4)
    table = pa.table({"key": np.arange(500), **{name: X[:, column] for column, name in enumerate(NAMES)}})
    # Columns are found by name, wherever they stand.
    return table.select(["c", "key", "a", "b"]), y


@pytest.fixture
def model(rows):
    table, y = rows
    return quick(LDLForest).fit(table.select(NAMES), y)


@pytest.fixture
def expected(model, rows):
    return model.predict(rows[0].select(NAMES))


def reader(table):
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=77))


def dataset(table, tmp_path):
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=120)
    return ds.dataset(tmp_path / "rows.parquet")


@pytest.mark.parametrize(
    "form",
    [
        lambda table, _: table,
        lambda table, _: reader(table),
        lambda table, path: dataset(table, path),
        lambda table, _: pl.from_arrow(table),
        lambda table, _: pl.from_arrow(table).lazy(),
        lambda table, path: dataset(table, path) and pl.scan_parquet(path / "rows.parquet"),
        lambda table, _: table.to_pandas(),
        lambda table, _: (table.slice(start, 60) for start in range(0, 500, 60)),
        lambda table, _: table.combine_chunks().to_batches()[0],
    ],
    ids=["table", "reader", "dataset", "polars", "lazy polars", "scan", "pandas", "iterable", "batch"],
)
def test_every_form_of_a_table_gives_the_same_rows_in_their_order(form, model, rows, expected, tmp_path):
    found = model.predict_batches(form(rows[0], tmp_path), keep=["key"], batch_rows=100)
    assert isinstance(found, pa.RecordBatchReader)
    sizes = []
    batches = []
    for batch in found:
        sizes.append(batch.num_rows)
        batches.append(batch)
    assert max(sizes) <= 100 and sum(sizes) == 500
    table = pa.Table.from_batches(batches)
    assert table.column_names == ["key", *HEADS]
    assert table["key"].to_pylist() == list(range(500))
    np.testing.assert_allclose(np.column_stack([table[name] for name in HEADS]), expected, atol=1e-7)


def test_nothing_is_read_before_it_is_asked_for(model, rows):
    taken = []

    def tables():
        for start in range(0, 500, 100):
            taken.append(start)
            yield rows[0].slice(start, 100)

    found = model.predict_batches(tables())
    assert taken == [0], "the first batch says what the columns are"
    found.read_next_batch()
    assert taken == [0]


def test_a_batch_streams_from_one_file_to_another(model, rows, expected, tmp_path):
    found = model.predict_batches(dataset(rows[0], tmp_path), keep=["key"], batch_rows=64)
    ds.write_dataset(found, tmp_path / "scored", format="parquet")
    back = ds.dataset(tmp_path / "scored").to_table().sort_by("key")
    np.testing.assert_allclose(np.column_stack([back[name] for name in HEADS]), expected, atol=1e-7)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.drop_columns(["b"]), "no column 'b', which the model needs; the columns are c, key, a"),
        (lambda t: t.set_column(2, "a", pa.array(["x"] * 500)), "column 'a' of X holds the text 'x'"),
        (lambda t: t.set_column(2, "a", pa.array([*range(499), np.inf])), "infinity in row 99, column 'a'"),
        (lambda t: 5, "batches are predicted of a pyarrow Table"),
        (lambda t: [], "there are no batches"),
    ],
    ids=["absent", "text", "infinite", "no table", "nothing"],
)
def test_what_cannot_be_predicted_is_said_with_its_place(change, said, model, rows):
    with pytest.raises((ValueError, TypeError), match=said):
        model.predict_batches(change(rows[0]), batch_rows=100).read_all()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([None, *range(499)], "row 0, column 'a': the value is missing"),
        ([*range(499), np.nan], "row 499, column 'a': nan is not a finite"),
        (["x"] * 500, "column 'a': string is not a type of numbers"),
    ],
    ids=["missing", "not finite", "text"],
)
def test_a_model_of_an_array_needs_numbers_everywhere(values, said, rows):
    table, y = rows
    model = quick(LDLForest).fit(np.column_stack([table[name] for name in ["c", "a", "b"]]), y)
    with pytest.raises(ValueError, match=said):
        model.predict_batches(table.set_column(2, "a", pa.array(values)), keep=["key"], batch_rows=100).read_all()


def test_a_number_that_is_missing_in_a_batch_is_the_mean_of_training(model, rows):
    holed = rows[0].set_column(2, "a", pa.array([None, *rows[0]["a"].to_pylist()[1:]]))
    found = model.predict_batches(holed, batch_rows=100).read_all()
    np.testing.assert_array_equal(np.column_stack(found.columns), model.predict(holed.select(NAMES)))


def test_without_names_the_columns_are_counted(rows):
    table, y = rows
    model = quick(LDLForest).fit(np.column_stack([table[name] for name in ["c", "a", "b"]]), y)
    found = model.predict_batches(table, keep=["key"]).read_all()
    assert found.num_rows == 500
    with pytest.raises(ValueError, match="reads 3 features and has no feature names, the table has 4 columns"):
        model.predict_batches(table).read_all()


def test_values_have_one_column(ages):
    X, y = ages
    model = quick(ldlf.LocallyAdjustedRegressor).fit(pd.DataFrame(X, columns=NAMES), y)
    found = model.predict_batches(pd.DataFrame(X, columns=NAMES)).read_all()
    assert found.column_names == ["value"]
    np.testing.assert_allclose(found["value"], model.predict(pd.DataFrame(X, columns=NAMES)))


def test_a_pyarrow_table_gives_a_pyarrow_table(model, rows, expected):
    found = model.predict_frame(rows[0], keep=["key"])
    assert isinstance(found, pa.Table) and found.column_names == ["key", *HEADS]
    np.testing.assert_allclose(np.column_stack([found[name] for name in HEADS]), expected, atol=1e-7)
    empty = model.predict_frame(rows[0].slice(0, 0), keep=["key"])
    assert empty.num_rows == 0 and empty.schema == found.schema
    with pytest.raises(ValueError, match="no column 'a'.*the columns are key") as refused:
        model.predict_frame(rows[0].select(["key"]))
    assert len(str(refused.value)) < 200, "names, not data"


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_frame_gives_a_frame_of_its_kind(kind, model, rows, expected):
    frame = rows[0].to_pandas().set_index(pd.Index(range(1000, 1500))) if kind == "pandas" else pl.from_arrow(rows[0])
    found = model.predict_frame(frame, keep=["key"])
    assert type(found) is type(frame) and list(found.columns) == ["key", *HEADS]
    np.testing.assert_allclose(found[HEADS].to_numpy(), expected, atol=1e-7)
    empty = model.predict_frame(frame[:0], keep=["key"])
    assert list(empty.columns) == ["key", *HEADS] and len(empty) == 0
    if kind == "pandas":
        assert found.index.equals(frame.index) and (empty.dtypes == found.dtypes).all()


def test_a_frame_without_columns_to_keep_and_one_whose_column_is_called_like_a_label(model, rows):
    for frame in (rows[0].to_pandas(), pl.from_arrow(rows[0])):
        assert model.predict_frame(frame).shape == (500, 4)
    with pytest.raises(ValueError, match="keep names 'label_1', which is also the name of a label"):
        model.predict_frame(rows[0].to_pandas().assign(label_1=0), keep=["label_1"])


def test_dask_map_partitions(model, rows, expected):
    """The recipe of docs/scoring.md."""
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    frames = dd.from_pandas(rows[0].to_pandas(), npartitions=7)

    meta = model.predict_frame(frames._meta, keep=["key"])
    scored = frames.map_partitions(model.predict_frame, keep=["key"], meta=meta)

    found = scored.compute(scheduler="threads")
    assert found["key"].tolist() == list(range(500))
    np.testing.assert_allclose(found[HEADS].to_numpy(), expected, atol=1e-7)


def test_spark_map_in_pandas(model, rows, expected):
    """The recipe of docs/scoring.md: the function that Spark calls, with what Spark gives it, an iterator of pandas frames."""
    import pickle

    def score(frames):
        for frame in frames:
            yield model.predict_frame(frame, keep=["key"])

    assert pickle.loads(pickle.dumps(model)).predict_frame(rows[0].to_pandas()).shape == (500, 4), (
        "Spark ships the model"
    )
    frame = rows[0].to_pandas()
    found = pd.concat(score(frame[start : start + 128] for start in range(0, 500, 128)))
    assert list(found.columns) == ["key", *HEADS] and found["key"].tolist() == list(range(500))
    np.testing.assert_allclose(found[HEADS].to_numpy(), expected, atol=1e-7)


def test_spark_itself(model, rows, expected, monkeypatch):
    """The recipe in a local Spark, where there is one: pyspark brings 400 MB and needs Java, so that it is no test requirement."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed (400 MB, needs Java)")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = spark.createDataFrame(rows[0].to_pandas()).repartition(3)

        def score(frames):
            for part in frames:
                yield model.predict_frame(part, keep=["key"])

        heads = model.predict_frame(frame.limit(0).toPandas()).columns
        schema = "key long, " + ", ".join(f"`{name}` float" for name in heads)
        found = frame.mapInPandas(score, schema=schema).toPandas().sort_values("key")
        np.testing.assert_allclose(found[HEADS].to_numpy(), expected, atol=1e-7)
    finally:
        spark.stop()
