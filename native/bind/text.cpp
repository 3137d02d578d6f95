#include "separatrix/text.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "rows.hpp"

namespace separatrix {

using Account = std::tuple<i64, i64, i64, i64, i64, int>;

static Account account(const Parsed& p) {
    return {p.rows, p.entries, p.most < 0 ? 0 : p.least, p.most, p.at, static_cast<int>(p.fault)};
}

template <class Array>
static void need_room(const Array& a, i64 least, const char* what) {
    if (static_cast<i64>(a.shape(0)) < least) throw nb::value_error(what);
}

void bind_text(nb::module_& m) {
    m.def(
        "count_byte",
        [](Vector<std::uint8_t> text, int wanted) {
            const char* p = reinterpret_cast<const char*>(text.data());
            const i64 n = static_cast<i64>(text.shape(0));
            nb::gil_scoped_release free;
            return count_byte(p, p + n, static_cast<char>(wanted));
        },
        "text"_a.noconvert(), "wanted"_a);
    m.def(
        "svmlight_chunk",
        [](Vector<std::uint8_t> text, Out<i64> ends, Out<i32> indices, Out<double> values, Out<double> labels,
           int threads) {
            const char* p = reinterpret_cast<const char*>(text.data());
            const i64 n = static_cast<i64>(text.shape(0));
            if (threads < 1) throw nb::value_error("threads must be at least 1");
            const i64 lines = count_byte(p, p + n, '\n') + threads + 1, pairs = count_byte(p, p + n, ':');
            need_room(ends, lines, "ends must hold a number for every line");
            need_room(labels, lines, "labels must hold a number for every line");
            need_room(indices, pairs, "indices must hold a number for every colon");
            need_room(values, pairs, "values must hold a number for every colon");
            nb::gil_scoped_release free;
            return account(
                svmlight_chunk(p, n, ends.data(), indices.data(), values.data(), labels.data(), threads));
        },
        "text"_a.noconvert(), "ends"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "labels"_a.noconvert(), "threads"_a);
    m.def(
        "delimited_chunk",
        [](Vector<std::uint8_t> text, int delimiter, i64 columns, i64 target, Out<double> values, Out<double> labels,
           int threads) {
            const char* p = reinterpret_cast<const char*>(text.data());
            const i64 n = static_cast<i64>(text.shape(0));
            if (threads < 1 || columns < 1 || target >= columns)
                throw nb::value_error("threads, columns and target must fit each other");
            const i64 lines = count_byte(p, p + n, '\n') + 1;
            need_room(values, lines * (columns - (target >= 0 ? 1 : 0)), "values must hold every cell");
            need_room(labels, target >= 0 ? lines : 0, "labels must hold a number for every line");
            nb::gil_scoped_release free;
            return account(delimited_chunk(p, n, static_cast<char>(delimiter), columns, target, values.data(),
                                           labels.data(), threads));
        },
        "text"_a.noconvert(), "delimiter"_a, "columns"_a, "target"_a, "values"_a.noconvert(), "labels"_a.noconvert(),
        "threads"_a);
}

}  // namespace separatrix
