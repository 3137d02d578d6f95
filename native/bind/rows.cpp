#include "rows.hpp"

namespace separatrix {

template <class T>
Rows dense(In<T, nb::ndim<2>> X) {
    const i64 n = static_cast<i64>(X.shape(0)), d = static_cast<i64>(X.shape(1));
    return {Dense<T>{X.data(), n, d}, n, d, nb::cast(X)};
}

template <class T, class I>
Rows csr(Vector<T> value, Vector<I> column, Vector<I> start, i64 d) {
    const i64 n = static_cast<i64>(start.shape(0)) - 1, stored = static_cast<i64>(value.shape(0));
    if (n < 0 || start.data()[0] != 0 || static_cast<i64>(start.data()[n]) > stored ||
        static_cast<i64>(column.shape(0)) < static_cast<i64>(start.data()[n]))
        throw nb::value_error("the CSR arrays do not fit together");
    return {Csr<T, I>{value.data(), column.data(), start.data(), n, d}, n, d,
            nb::make_tuple(nb::cast(value), nb::cast(column), nb::cast(start))};
}

void bind_rows(nb::module_& m) {
    nb::class_<Rows>(m, "Rows", "A view of a table's rows, dense or CSR.")
        .def_static("dense", &dense<double>, "X"_a.noconvert())
        .def_static("dense", &dense<float>, "X"_a.noconvert())
        .def_static("csr", &csr<double, i32>, "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "d"_a)
        .def_static("csr", &csr<double, i64>, "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "d"_a)
        .def_static("csr", &csr<float, i32>, "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "d"_a)
        .def_static("csr", &csr<float, i64>, "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "d"_a)
        .def_ro("n", &Rows::n)
        .def_ro("d", &Rows::d);
}

}  // namespace separatrix
