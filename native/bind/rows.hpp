// Rows as Python sees them: a view of a dense array or of the three arrays of a CSR matrix, which
// it keeps alive. Array types are the contract; nothing is converted or copied here.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <variant>

#include "separatrix/rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

template <class T, class... More>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu, More...>;
template <class T>
using Vector = In<T, nb::ndim<1>>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

namespace separatrix {

using AnyRows = std::variant<Dense<double>, Dense<float>, Csr<double, i32>, Csr<double, i64>, Csr<float, i32>,
                             Csr<float, i64>>;

struct Rows {
    AnyRows view;
    i64 n, d;
    nb::object owners;
};

template <class Array>
void need_length(const Array& a, i64 length, const char* what) {
    if (static_cast<i64>(a.shape(0)) != length) throw nb::value_error(what);
}

}  // namespace separatrix
