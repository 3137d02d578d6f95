"""Numbers as people write them, cell by cell and column by column: every writing, and nothing read wrongly."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.data.date_writing import check_format, formats_of, moment
from separatrix.data.number_writing import Writing, is_number, is_settled, writings
from separatrix.errors import ParameterError

POINT, COMMA = Writing(".", ","), Writing(",", ".")


@pytest.mark.parametrize(
    ("writing", "text", "value"),
    [
        (POINT, "1,234,567.5", 1234567.5),
        (POINT, "-1,234", -1234),
        (COMMA, "1.234,5", 1234.5),
        (COMMA, "0,125", 0.125),
        (Writing(",", " "), "1\u202f234,50", 1234.5),
        (Writing(".", "'"), "CHF 1’234.50".removeprefix("CHF "), 1234.5),
        (Writing(".", "'", "CHF"), "CHF 1'234.50", 1234.5),
        (Writing(".", ",", "$"), "-$1,234", -1234),
        (Writing(".", ",", "$"), "$-5", -5),
        (Writing(".", "", "€"), "5.25 €", 5.25),
        (Writing(".", "", "%"), "12.5%", 12.5),
        (Writing(".", "", "%"), "0", 0),
        (Writing(), "\u22125e-3", -0.005),
        (Writing(), ".5", 0.5),
    ],
)
def test_a_cell_is_read_as_its_column_is_written(writing, text, value):
    assert writing.number(text) == value


@pytest.mark.parametrize(
    ("writing", "text"),
    [
        (Writing(), "1,234"),
        (Writing(), "1,5"),
        (Writing(), "$5"),
        (POINT, "1,23"),
        (POINT, "1,23,456"),
        (POINT, "0,123"),
        (POINT, "1.234,5"),
        (COMMA, "1.5"),
        (Writing(".", "", "$"), "5 €"),
        (Writing(".", "", "%"), "12"),
        (Writing(), "5-3"),
        (Writing(), "1 2"),
        (Writing(), "12ab"),
        (Writing(), "9" * 100),
    ],
)
def test_another_writing_is_not_a_number(writing, text):
    assert writing.number(text) is None


@pytest.mark.parametrize("text", ["-", "?", "N/A", "NaN", "null", ""])
def test_missing_is_missing_in_every_writing(text):
    assert math.isnan(POINT.number(text))


@pytest.mark.parametrize(
    ("cells", "decimals", "settled"),
    [
        (["1,5", "2,25"], ",", True),
        (["0,123", "4,567"], ",", True),
        (["1,234", "5,678"], ".,", False),
        (["1.234", "5.678"], ".,", False),
        (["1,234", "5.5"], ".", True),
        (["1,234", "1,234,567"], ".", True),
        (["1,234", "12.5"], ".", True),
        (["1.234", "1.234.567"], ",", True),
        (["1,5", "1.5"], "", False),
        (["1,234.5", "1.234,5"], "", False),
        (["$5", "€5"], "", False),
        (["5%", "7"], "", False),
        (["5%", "0"], ".,", True),
        (["1 234", "5"], ".,", True),
        (["12", "x"], "", False),
    ],
)
def test_the_cells_of_a_column_decide_together(cells, decimals, settled):
    found = writings(cells)
    assert "".join(found) == decimals
    assert is_settled(found) == settled


@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2, allow_nan=False), min_size=1, max_size=20),
    st.sampled_from([(".", ","), (",", "."), (",", " "), (".", "'"), (".", "")]),
    st.sampled_from(["", "$", "€", "EUR", "%"]),
)
def test_what_is_written_is_read(numbers, marks, unit):
    """Two decimals always settle the marks; the number comes back to the last digit."""
    decimal, group = marks
    texts = [
        f"{number:,.2f}".replace(".", "\0").replace(",", group).replace("\0", decimal) + (f" {unit}" if unit else "")
        for number in numbers
    ]
    found = writings(texts)
    assert list(found) == [decimal]
    assert [found[decimal].number(text) for text in texts] == [float(number) for number in numbers]


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_not(text):
    for writing in (Writing(), POINT, COMMA):
        value = writing.number(text)
        assert value is None or isinstance(value, float)
        assert value is None or math.isnan(value) or is_number(text)


@pytest.mark.parametrize(
    "change", [{"more": ""}, {"group": "."}, {"decimal": "x"}, {"unit": "ab"}, {"group": 1}, {"unit": "x" * 99}]
)
def test_a_damaged_writing_is_refused(change):
    with pytest.raises((TypeError, ValueError)):
        Writing.from_dict(Writing().to_dict() | change)


def test_writings_are_kept_as_plain_values():
    for writing in (POINT, COMMA, Writing(".", "'", "CHF")):
        assert Writing.from_dict(writing.to_dict()) == writing
    assert COMMA.with_decimal(".") == POINT
    assert Writing(",", " ").with_decimal(".") == Writing(".", " ")


DAY = 86400.0
MAY = 18396 * DAY  # 14 May 2020


@pytest.mark.parametrize(
    ("text", "form", "seconds"),
    [
        ("1970-01-02", "%Y-%m-%d", DAY),
        ("1970-01-02T01:00:00+01:00", "%Y-%m-%d", DAY),
        ("2/1/1970 00:00:30", "%d/%m/%Y", DAY + 30),
        ("05/14/2020 12:00 AM", "%m/%d/%Y", MAY),
        ("5/14/2020 1:05:06 pm", "%m/%d/%Y", MAY + 13 * 3600 + 306),
        ("14 May 2020", "%d %b %Y", MAY),
        ("14-MAY-2020", "%d-%b-%Y", MAY),
        ("May 14, 2020", "%b %d, %Y", MAY),
        ("Sept. 14, 2020", "%b %d, %Y", MAY + 123 * DAY),
        ("Thu, 14 May 2020 00:00:01 GMT", "%a, %d %b %Y", MAY + 1),
        ("14.05.20", "%d.%m.%y", MAY),
        ("14.05.69", "%d.%m.%y", -232 * DAY),
        ("2020-05-14 00:00:00.25Z", "%Y-%m-%d", MAY + 0.25),
        ("20200514", "%Y%m%d", MAY),
        ("2020-05-14 23h", "%Y-%m-%d %Hh", MAY + 23 * 3600),
    ],
)
def test_a_date_by_its_format(text, form, seconds):
    assert moment(text, check_format(form)) == seconds
    assert form not in formats_of([text]) or moment(text, None) is not None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1970-02-29", "%Y-%m-%d"),
        ("1970-13-01", "%Y-%m-%d"),
        ("1970/01-02", "%Y/%m/%d"),
        ("1970-01-02 25:00", "%Y-%m-%d"),
        ("1970-01-02 13:00 PM", "%Y-%m-%d"),
        ("14 Mai 2020", "%d %b %Y"),
        ("14 May 2020 x", "%d %b %Y"),
        ("1970-01-0\u0662", "%Y-%m-%d"),
    ],
)
def test_what_is_no_date(text, form):
    assert moment(text, form) is None


@given(st.datetimes(), st.sampled_from(["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%b %d, %Y %I:%M:%S %p", "%d %b %Y"]))
def test_dates_are_those_of_python(when, form):
    from datetime import datetime

    text = when.strftime(form) if when.year > 999 else ""
    if text:
        expected = (datetime.strptime(text, form) - datetime(1970, 1, 1)).total_seconds()
        assert moment(text, form) == expected


def test_one_format_for_a_column():
    assert formats_of(["2.1.1970", "3.1.1970"])[0] == "%d.%m.%Y"
    assert formats_of(["1/2/1970", "1/13/1970"]) == ["%m/%d/%Y"]
    for cells in (["1970-01-02", "soon"], ["13/13/1970"], ["1970-02-30"], ["1970/01-02"], []):
        assert formats_of(cells) == []
    for form, says in (("%Q", "has %Q"), ("%d.%m", "has no year"), ("%Y%", "has %")):
        with pytest.raises(ParameterError, match=says):
            check_format(form)
