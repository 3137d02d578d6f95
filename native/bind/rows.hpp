// Rows as Python sees them: a view of a dense array or of the three arrays of a CSR matrix, which
// it keeps alive. Array types are the contract; nothing is converted or copied here.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
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

inline void need_positions(const std::optional<Vector<i64>>& order, i64 n, i64 begin, i64 end) {
    const i64 positions = order ? static_cast<i64>(order->shape(0)) : n;
    if (begin < 0 || end > positions || begin > end) throw nb::value_error("begin and end leave the rows");
    if (order)
        for (i64 t = begin; t < end; ++t)
            if (order->data()[t] < 0 || order->data()[t] >= n)
                throw nb::value_error("order names a row that does not exist");
}

}  // namespace separatrix
