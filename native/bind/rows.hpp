// Rows as Python sees them: a view of a dense array or of the three arrays of a CSR matrix, which
// it keeps alive. Array types are the contract; nothing is converted or copied here. Whatever would
// lead a kernel outside its arrays is refused: lengths, ranges and row numbers in every call, the indices of
// a CSR matrix when the view is made. Arrays must not change while a view or a call reads them.
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

inline void need_range(i64 n, i64 begin, i64 end) {
    if (begin < 0 || end > n || begin > end) throw nb::value_error("begin and end leave the rows");
}

// Positions begin .. end of `numbers` are in 0 .. n - 1.
inline void need_below(const Vector<i64>& numbers, i64 begin, i64 end, i64 n, const char* what) {
    for (i64 t = begin; t < end; ++t)
        if (numbers.data()[t] < 0 || numbers.data()[t] >= n) throw nb::value_error(what);
}
inline void need_below(const Vector<i64>& numbers, i64 n, const char* what) {
    need_below(numbers, 0, static_cast<i64>(numbers.shape(0)), n, what);
}

inline void need_positions(const std::optional<Vector<i64>>& order, i64 n, i64 begin, i64 end) {
    need_range(order ? static_cast<i64>(order->shape(0)) : n, begin, end);
    if (order) need_below(*order, begin, end, n, "order names a row that does not exist");
}

}  // namespace separatrix
