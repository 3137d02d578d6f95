#include "rows.hpp"

#include <algorithm>
#include <type_traits>

namespace separatrix {

template <class T>
Rows dense(In<T, nb::ndim<2>> X) {
    const i64 n = static_cast<i64>(X.shape(0)), d = static_cast<i64>(X.shape(1));
    return {Dense<T>{X.data(), n, d}, n, d, nb::cast(X)};
}

template <class T, class I>
Rows csr(Vector<T> value, Vector<I> column, Vector<I> start, i64 d) {
    const i64 n = static_cast<i64>(start.shape(0)) - 1;
    const i64 room = static_cast<i64>(std::min(value.shape(0), column.shape(0)));
    if (d < 0) throw nb::value_error("d must not be negative");
    if (n < 0 || start.data()[0] != 0 || start.data()[n] < 0 || static_cast<i64>(start.data()[n]) > room)
        throw nb::value_error("the CSR arrays do not fit together: start must go from 0 to at most the stored numbers");
    const I *s = start.data(), *c = column.data();
    bool ascending = true, short_enough = true;
    for (i64 i = 0; i < n; ++i) {
        ascending &= s[i] <= s[i + 1];
        short_enough &= static_cast<u64>(s[i + 1]) - static_cast<u64>(s[i]) <= static_cast<u64>(d);
    }
    if (!ascending) throw nb::value_error("the CSR arrays do not fit together: start must not descend");
    if (!short_enough) throw nb::value_error("a row stores more numbers than there are columns: add up its duplicates");
    std::make_unsigned_t<I> most = 0;  // as an unsigned number a negative column is large
    for (i64 k = 0; k < static_cast<i64>(s[n]); ++k) most = std::max(most, static_cast<std::make_unsigned_t<I>>(c[k]));
    if (s[n] > 0 && most >= static_cast<u64>(d)) throw nb::value_error("column names a column that does not exist");
    return {Csr<T, I>{value.data(), column.data(), start.data(), n, d}, n, d,
            nb::make_tuple(nb::cast(value), nb::cast(column), nb::cast(start))};
}

// Rows begin .. end of a view, as a view that keeps the same arrays alive.
static Rows part_of(const Rows& X, i64 begin, i64 end) {
    need_range(X.n, begin, end);
    Rows out{X.view, end - begin, X.d, X.owners};
    std::visit(
        [&](auto& view) {
            if constexpr (requires { view.start; })
                view.start += begin;
            else
                view.x += begin * view.d;
            view.n = end - begin;
        },
        out.view);
    return out;
}

static i64 size_of(const Rows& X) {
    return std::visit(
        [](const auto& view) -> i64 {
            if constexpr (requires { view.start; })
                return static_cast<i64>(view.start[view.n] - view.start[0]);
            else
                return view.n * view.d;
        },
        X.view);
}

void bind_rows(nb::module_& m) {
    nb::class_<Rows>(m, "Rows", "A view of a table's rows, dense or CSR.")
        .def_static("dense", &dense<double>, "X"_a.noconvert())
        .def_static("dense", &dense<float>, "X"_a.noconvert())
        .def_static("csr", &csr<double, i32>, "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "d"_a)
        .def_static("csr", &csr<double, i64>, "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "d"_a)
        .def_static("csr", &csr<float, i32>, "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "d"_a)
        .def_static("csr", &csr<float, i64>, "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "d"_a)
        .def("part", &part_of, "begin"_a, "end"_a)
        .def_prop_ro("size", &size_of)
        .def_ro("n", &Rows::n)
        .def_ro("d", &Rows::d);
}

}  // namespace separatrix
