#include "separatrix/lasso.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "rows.hpp"

namespace separatrix {

static void need_order(const Vector<i64>& order, i64 length) {
    need_below(order, length, "order names a coordinate that does not exist");
}

template <class T>
static void turned_rows(const Rows& X, Out<i32> start, Out<i32> row, Out<T> value) {
    need_length(start, X.d + 1, "start must hold a number for every column, and one more");
    nb::gil_scoped_release free;
    std::visit(
        [&]<class Table>(const Table& table) {
            if constexpr (std::is_same_v<Table, Csr<T, i32>> || std::is_same_v<Table, Csr<T, i64>>) {
                const i64 numbers = static_cast<i64>(table.start[table.n] - table.start[0]);
                if (static_cast<i64>(row.shape(0)) != numbers || static_cast<i64>(value.shape(0)) != numbers)
                    throw std::invalid_argument("row and value must hold a number for every number of X");
                if (std::max(numbers, table.n) > std::numeric_limits<i32>::max())
                    throw std::invalid_argument("X is too large for 32-bit numbers of rows");
                turned(table, start.data(), row.data(), value.data());
            } else
                throw std::invalid_argument("turned takes sparse rows, and values of their type");
        },
        X.view);
}

void bind_lasso(nb::module_& m) {
    m.def("turned", &turned_rows<double>, "X"_a, "start"_a.noconvert(), "row"_a.noconvert(), "value"_a.noconvert());
    m.def("turned", &turned_rows<float>, "X"_a, "start"_a.noconvert(), "row"_a.noconvert(), "value"_a.noconvert());
    m.def(
        "weighted_sums",
        [](const Rows& Z, Vector<i64> order, Vector<double> h, std::optional<Out<double>> first,
           std::optional<Out<double>> second) {
            need_order(order, Z.n);
            need_length(h, Z.d, "h must be as long as a row of Z");
            if (first) need_length(*first, Z.n, "first must hold a number for every row");
            if (second) need_length(*second, Z.n, "second must hold a number for every row");
            nb::gil_scoped_release free;
            std::visit(
                [&](const auto& table) {
                    weighted_sums(table, order.data(), static_cast<i64>(order.shape(0)), h.data(),
                                  first ? first->data() : nullptr, second ? second->data() : nullptr);
                },
                Z.view);
        },
        "Z"_a, "order"_a.noconvert(), "h"_a.noconvert(), "first"_a.noconvert().none(), "second"_a.noconvert().none());
    m.def(
        "combine",
        [](const Rows& Z, Vector<i64> order, Vector<double> v, Out<double> out) {
            need_order(order, Z.n);
            need_length(v, Z.n, "v must hold a number for every row");
            need_length(out, Z.d, "out must be as long as a row of Z");
            nb::gil_scoped_release free;
            std::visit(
                [&](const auto& table) {
                    combine(table, order.data(), static_cast<i64>(order.shape(0)), v.data(), out.data());
                },
                Z.view);
        },
        "Z"_a, "order"_a.noconvert(), "v"_a.noconvert(), "out"_a.noconvert());
    m.def(
        "chosen_gram",
        [](const Rows& X, Vector<double> h, Vector<i64> place, i64 begin, i64 end, Out<double> sums, Out<double> half) {
            const i64 width = static_cast<i64>(sums.shape(0));
            need_range(X.n, begin, end);
            need_length(h, X.n, "h must hold a number for every row");
            need_length(place, X.d, "place must hold a number for every column");
            need_length(half, width * width, "half must hold a number for each two of the places");
            for (i64 j = 0; j < X.d; ++j)
                if (place.data()[j] < -1 || place.data()[j] >= width) throw nb::value_error("place names one that does not exist");
            nb::gil_scoped_release free;
            std::visit(
                [&](const auto& table) {
                    chosen_gram(table, h.data(), place.data(), width, begin, end, sums.data(), half.data());
                },
                X.view);
        },
        "X"_a, "h"_a.noconvert(), "place"_a.noconvert(), "begin"_a, "end"_a, "sums"_a.noconvert(), "half"_a.noconvert());
    m.def(
        "lasso_pass",
        [](const Rows& Z, Vector<i64> order, Vector<double> g, Vector<double> curvature, Vector<double> along, double alpha,
           double ridge, Out<double> v, Out<double> moved, Out<double> drift) {
            need_order(order, Z.n);
            need_length(g, Z.n, "g must hold a number for every coordinate");
            need_length(curvature, Z.n, "curvature must hold a number for every coordinate");
            need_length(along, Z.n, "along must hold a number for every coordinate");
            need_length(v, Z.n, "v must hold a number for every coordinate");
            need_length(moved, Z.d, "moved must be as long as a row of Z");
            need_length(drift, 1, "drift is one number");
            nb::gil_scoped_release free;
            return std::visit(
                [&](const auto& table) {
                    return lasso_pass(table, order.data(), static_cast<i64>(order.shape(0)), g.data(), curvature.data(),
                                      along.data(), {alpha, ridge}, v.data(), moved.data(), *drift.data());
                },
                Z.view);
        },
        "Z"_a, "order"_a.noconvert(), "g"_a.noconvert(), "curvature"_a.noconvert(), "along"_a.noconvert(), "alpha"_a,
        "ridge"_a, "v"_a.noconvert(), "moved"_a.noconvert(), "drift"_a.noconvert());
    m.def(
        "curved_pass",
        [](const Rows& X, Vector<i64> order, Vector<double> h, Vector<double> g, Vector<double> curvature,
           Vector<double> along, double alpha, double ridge, Out<double> v, Out<double> bent, Out<double> drift) {
            need_order(order, X.n);
            need_length(h, X.d, "h must be as long as a row of X");
            need_length(g, X.n, "g must hold a number for every coordinate");
            need_length(curvature, X.n, "curvature must hold a number for every coordinate");
            need_length(along, X.n, "along must hold a number for every coordinate");
            need_length(v, X.n, "v must hold a number for every coordinate");
            need_length(bent, X.d, "bent must be as long as a row of X");
            need_length(drift, 1, "drift is one number");
            nb::gil_scoped_release free;
            return std::visit(
                [&](const auto& table) {
                    return curved_pass(table, order.data(), static_cast<i64>(order.shape(0)), h.data(), g.data(),
                                       curvature.data(), along.data(), {alpha, ridge}, v.data(), bent.data(), *drift.data());
                },
                X.view);
        },
        "X"_a, "order"_a.noconvert(), "h"_a.noconvert(), "g"_a.noconvert(), "curvature"_a.noconvert(),
        "along"_a.noconvert(), "alpha"_a, "ridge"_a, "v"_a.noconvert(), "bent"_a.noconvert(), "drift"_a.noconvert());
    m.def(
        "gram_pass",
        [](In<double, nb::ndim<2>> A, Vector<i64> order, double alpha, double ridge, Out<double> v, Out<double> slope) {
            const i64 p = static_cast<i64>(A.shape(0));
            if (static_cast<i64>(A.shape(1)) != p) throw nb::value_error("A must be square");
            need_order(order, p);
            need_length(v, p, "v must hold a number for every coordinate");
            need_length(slope, p, "slope must hold a number for every coordinate");
            nb::gil_scoped_release free;
            return gram_pass({A.data(), p, p}, order.data(), static_cast<i64>(order.shape(0)), {alpha, ridge}, v.data(),
                             slope.data());
        },
        "A"_a.noconvert(), "order"_a.noconvert(), "alpha"_a, "ridge"_a, "v"_a.noconvert(), "slope"_a.noconvert());
    m.def(
        "class_lasso_pass",
        [](const Rows& X, Vector<i64> order, i64 width, std::optional<Vector<double>> weights, Vector<double> P,
           Vector<double> g, Vector<double> curvature, double alpha, double ridge, Out<double> v, Out<double> U,
           Out<double> mean) {
            const i64 length = static_cast<i64>(v.shape(0));
            if ((width != X.n && width != X.n + 1) || width < 1 || length % width)
                throw nb::value_error("width must be the number of columns, or one more with a bias");
            need_order(order, length);
            need_length(g, length, "g must hold a number for every coordinate");
            need_length(curvature, length, "curvature must hold a number for every coordinate");
            need_length(P, length / width * X.d, "P must hold a probability for every class and row");
            need_length(U, length / width * X.d, "U must be as long as P");
            need_length(mean, X.d, "mean must hold a number for every row of the table");
            if (weights) need_length(*weights, X.d, "weights must hold a number for every row of the table");
            nb::gil_scoped_release free;
            return std::visit(
                [&](const auto& table) {
                    return class_lasso_pass(table, order.data(), static_cast<i64>(order.shape(0)), width,
                                            weights ? weights->data() : nullptr, P.data(), g.data(), curvature.data(),
                                            {alpha, ridge}, v.data(), U.data(), mean.data());
                },
                X.view);
        },
        "X"_a, "order"_a.noconvert(), "width"_a, "weights"_a.noconvert().none(), "P"_a.noconvert(), "g"_a.noconvert(),
        "curvature"_a.noconvert(), "alpha"_a, "ridge"_a, "v"_a.noconvert(), "U"_a.noconvert(), "mean"_a.noconvert());
}

}  // namespace separatrix
