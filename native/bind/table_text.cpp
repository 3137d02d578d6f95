#include "separatrix/table_text.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "rows.hpp"

namespace separatrix {

static Text text_of(const Vector<std::uint8_t>& text) {
    return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(text.shape(0))};
}

// Text as Python has it; a cell of a faulty row may be any bytes.
static nb::object as_str(Text text) {
    return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

template <class T>
using Grid = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;
template <class T>
using Line = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

template <class T>
static T* kept(std::vector<T>&& values, nb::capsule& owner) {
    auto* held = new std::vector<T>(std::move(values));
    owner = nb::capsule(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return held->data();
}

using Told = std::tuple<i64, i64, int, i64, nb::typed<nb::object, nb::str>>;
using Read = std::tuple<Grid<double>, Grid<i32>, nb::typed<nb::list, nb::typed<nb::list, nb::str>>, Line<i64>,
                        Line<i64>, std::vector<Told>, std::vector<i64>, i64>;
using Column = std::tuple<int, std::string, std::string, std::string, std::string, std::vector<nb::bytes>>;

static char mark(const std::string& text) {
    if (text.size() > 1) throw nb::value_error("a mark is one character");
    return text.empty() ? '\0' : text[0];
}

static NumberForm form_of(const std::string& decimal, const std::string& group) {
    const NumberForm form{mark(decimal), mark(group)};
    for (const NumberForm own : FORMS)
        if (own.decimal == form.decimal && own.group == form.group) return form;
    throw nb::value_error("an unknown form of numbers");
}

static TableText made(const std::string& delimiter, bool quotes, bool call_missing, const std::vector<Column>& columns,
                      const std::vector<double>& none) {
    TableText out;
    out.delimiter = mark(delimiter);
    out.quotes = quotes;
    out.call_missing = call_missing;
    out.none = none;
    for (const auto& [kind, decimal, group, unit, format, words] : columns) {
        if (kind < 0 || kind > 3) throw nb::value_error("an unknown kind of column");
        ColumnPlan own;
        own.kind = static_cast<Kind>(kind);
        own.form = form_of(decimal, group);
        own.unit = unit;
        own.format = format;
        own.plain = decimal == "." && group.empty() && unit.empty();
        for (const nb::bytes& word : words) {
            own.none.emplace(word.c_str(), word.size());
            out.longest_none = std::max(out.longest_none, word.size());
        }
        out.columns.push_back(std::move(own));
    }
    return out;
}

static Read read(const TableText& self, Vector<std::uint8_t> text, i64 more, bool last) {
    TableRows rows;
    {
        nb::gil_scoped_release free;
        rows = self.read(text_of(text), more, last);
    }
    nb::list levels;
    for (const Levels& own : rows.levels) {
        nb::list texts;
        for (Text cell : own.texts) texts.append(as_str(cell));
        levels.append(texts);
    }
    std::vector<Told> faults;
    for (const RowFault& own : rows.faults)
        faults.emplace_back(own.rows_before, own.byte, static_cast<int>(own.why), own.column, as_str(own.cell));
    std::size_t numbers = 0, texts = 0;
    for (const ColumnPlan& own : self.columns) {
        numbers += own.kind == Kind::number || own.kind == Kind::date;
        texts += own.kind == Kind::text;
    }
    const std::size_t n = rows.begins.size();
    const i64 consumed = rows.consumed;
    nb::capsule one, two, three, four;
    double* values = kept(std::move(rows.values), one);
    i32* codes = kept(std::move(rows.codes), two);
    i64* begins = kept(std::move(rows.begins), three);
    i64* ends = kept(std::move(rows.ends), four);
    return {Grid<double>(values, {n, numbers}, one), Grid<i32>(codes, {n, texts}, two), levels,
            Line<i64>(begins, {n}, three), Line<i64>(ends, {n}, four), std::move(faults), std::move(rows.broken), consumed};
}

void bind_table_text(nb::module_& m) {
    nb::class_<TableText>(m, "TableText", "Rows of delimited text by a plan of the columns.")
        .def("__init__",
             [](TableText* self, const std::string& delimiter, bool quotes, bool call_missing,
                const std::vector<Column>& columns, const std::vector<double>& none) {
                 new (self) TableText(made(delimiter, quotes, call_missing, columns, none));
             },
             "delimiter"_a, "quotes"_a, "call_missing"_a, "columns"_a, "none"_a)
        .def("read", &read, "text"_a.noconvert(), "more"_a, "last"_a)
        .def("complete",
             [](const TableText& self, Vector<std::uint8_t> text, i64 more) {
                 nb::gil_scoped_release free;
                 return self.complete(text_of(text), more);
             },
             "text"_a.noconvert(), "more"_a)
        .def("cells",
             [](const TableText& self, Vector<std::uint8_t> text) {
                 nb::list out;
                 for (const auto& row : self.cells(text_of(text))) {
                     nb::list cells;
                     for (const std::string& cell : row) cells.append(as_str(cell));
                     out.append(cells);
                 }
                 return nb::typed<nb::list, nb::typed<nb::list, nb::str>>(out);
             },
             "text"_a.noconvert());
    m.def("cell_forms",  // for each cell: its forms as bits, whether it is zero, and its unit; (0, …) for no number
          [](const std::vector<nb::bytes>& cells) {
              std::vector<std::tuple<int, bool, std::string>> out;
              out.reserve(cells.size());
              std::string plain;
              for (const nb::bytes& cell : cells) {
                  const std::string text = tidy(Text(cell.c_str(), cell.size()));
                  const Parts parts = parts_of(text);
                  int mask = 0, bit = 1;
                  for (const NumberForm form : FORMS) {
                      if (parts.fine && read_body(parts, form, plain)) mask |= bit;
                      bit *= 2;
                  }
                  out.emplace_back(mask, parts.zero, std::string(parts.unit));
              }
              return out;
          },
          "cells"_a);
    m.def("number_forms", [] {
        std::vector<std::tuple<std::string, std::string>> out;
        for (const NumberForm form : FORMS)
            out.emplace_back(std::string(1, form.decimal), form.group ? std::string(1, form.group) : std::string());
        return out;
    });
    m.def("cell_number",
          [](const nb::bytes& cell, const std::string& decimal, const std::string& group,
             const std::string& unit) -> std::optional<double> {
              double value = 0;
              const NumberForm form = form_of(decimal, group);
              if (written_number(Text(cell.c_str(), cell.size()), form, unit, value)) return value;
              return std::nullopt;
          },
          "cell"_a, "decimal"_a, "group"_a, "unit"_a);
    m.def("cell_dates",  // seconds since 1970 by a format, NaN where a cell is no such date
          [](const std::vector<nb::bytes>& cells, std::string_view format) {
              std::vector<double> out;
              out.reserve(cells.size());
              for (const nb::bytes& cell : cells) {
                  double value = NONE;
                  out.push_back(moment(Text(cell.c_str(), cell.size()), format, value) ? value : NONE);
              }
              return out;
          },
          "cells"_a, "format"_a);
}

}  // namespace separatrix
