"""Wide tables are read by what DuckDB found in them once, as it reads them by itself."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.data import table_queries
from separatrix.data.dialect import Reading
from separatrix.data.sources import open_source

BODY = "".join(
    f"{i},{i / 7:.4f},{'abc'[i % 3]},{str(i % 2 > 0).lower()},0{1 + i % 9}/1{i % 4}/2021,{'yes' if i % 3 else 'no'}\n"
    for i in range(300)
)
TABLE = "n,x,ward,flag,day,ok\n" + BODY
LONG = "a,b,c\n" + "".join(f"{i},word,{i}.5\n" for i in range(30_000))
HABITS = {
    "plain": (TABLE, Reading()),
    "crlf": (TABLE.replace("\n", "\r\n"), Reading()),
    "bom": ("\ufeff" + TABLE, Reading()),
    "semicolons and decimal commas": (TABLE.replace(",", ";").replace(".", ","), Reading()),
    "tabs": (TABLE.replace(",", "\t"), Reading()),
    "quotes": (TABLE.replace("abc"[1], '"b, or ""B"""'), Reading()),
    "quotes beyond the sample": (LONG + '7,"a, b",2\n8,"say ""c""",3\n', Reading()),
    "a word among numbers beyond the sample": (LONG + "many,word,2\n", Reading()),
    "repeated and empty names": (TABLE.replace("n,x,ward", "n,n,"), Reading()),
    "no header": (BODY, Reading()),
    "no header, as told": (BODY, Reading(header=False)),
    "missing by another word": (TABLE.replace(",a,", ",NA,").replace("7.1429", "NA"), Reading(na=("NA",))),
    "a number that is text": (TABLE, Reading(text=("n",))),
    "names of all kinds": (TABLE.replace("ward", "w'a\"r{d}").replace("ok", "Ok ok"), Reading()),
    "a line that is cut": (TABLE + "7,8\n", Reading()),
    "times with zones": ("at,y\n" + "2021-03-04T05:06:07+02:00,1\n2021-03-04T05:06:08Z,0\n" * 9, Reading()),
}


def said(path, reading):
    """What comes of reading: columns, or the sentence."""
    try:
        frame = open_source(str(path), reading).read()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return [(column.name, column.kind, column.values.tolist()) for column in frame.columns]


@pytest.mark.parametrize("habit", HABITS)
def test_the_table_is_the_same(habit, tmp_path, monkeypatch):
    content, reading = HABITS[habit]
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode())
    alone = said(path, reading)
    called = []
    monkeypatch.setattr(table_queries, "WIDE", 1)
    real = table_queries.wide_query
    monkeypatch.setattr(table_queries, "wide_query", lambda *a: called.append(a) or real(*a))
    by_found = said(path, reading)
    assert called
    if isinstance(alone, str):
        assert by_found == alone
        return
    assert [column[:2] for column in by_found] == [column[:2] for column in alone]
    for ours, theirs in zip(by_found, alone, strict=True):
        np.testing.assert_array_equal(np.array(ours[2], dtype=object), np.array(theirs[2], dtype=object))


def test_what_is_wide():
    assert table_queries.is_wide(b",".join([b"c"] * 1000) + b"\n1,2\n")
    assert not table_queries.is_wide(b"a,b\n" + b"," * 1000)
