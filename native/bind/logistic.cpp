#include "separatrix/logistic.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "rows.hpp"

namespace separatrix {

void bind_logistic(nb::module_& m) {
    m.def(
        "logistic_pass",
        [](const Rows& X, Vector<i8> y, std::optional<Vector<double>> weights, std::optional<Vector<double>> offset,
           Vector<double> lifted, i64 begin, i64 end, Out<double> gradient, std::optional<Out<double>> curvature,
           std::optional<Out<double>> wrong) {
            need_range(X.n, begin, end);
            need_length(y, X.n, "y must hold a sign for every row");
            need_length(lifted, X.d + 1, "lifted must hold a weight for every feature and the bias");
            need_length(gradient, X.d + 1, "gradient must be as long as lifted");
            if (weights) need_length(*weights, X.n, "weights must hold a number for every row");
            if (offset) need_length(*offset, X.n, "offset must hold a number for every row");
            if (curvature) need_length(*curvature, X.n, "curvature must hold a number for every row");
            if (wrong) need_length(*wrong, X.n, "wrong must hold a number for every row");
            nb::gil_scoped_release free;
            return std::visit(
                [&](const auto& table) {
                    return logistic_pass(table, y.data(), weights ? weights->data() : nullptr,
                                         offset ? offset->data() : nullptr, lifted.data(), begin, end, gradient.data(),
                                         curvature ? curvature->data() : nullptr, wrong ? wrong->data() : nullptr);
                },
                X.view);
        },
        "X"_a, "y"_a.noconvert(), "weights"_a.noconvert().none(), "offset"_a.noconvert().none(), "lifted"_a.noconvert(),
        "begin"_a, "end"_a, "gradient"_a.noconvert(), "curvature"_a.noconvert().none(), "wrong"_a.noconvert().none());
    m.def(
        "curvature_product",
        [](const Rows& X, Vector<double> curvature, Vector<double> v, i64 begin, i64 end, Out<double> out) {
            need_range(X.n, begin, end);
            need_length(curvature, X.n, "curvature must hold a number for every row");
            need_length(v, X.d + 1, "v must hold a number for every feature and the bias");
            need_length(out, X.d + 1, "out must be as long as v");
            nb::gil_scoped_release free;
            std::visit([&](const auto& table) { curvature_product(table, curvature.data(), v.data(), begin, end, out.data()); },
                       X.view);
        },
        "X"_a, "curvature"_a.noconvert(), "v"_a.noconvert(), "begin"_a, "end"_a, "out"_a.noconvert());
    m.def(
        "curvature_diagonal",
        [](const Rows& X, Vector<double> curvature, i64 begin, i64 end, std::optional<Out<double>> sums,
           Out<double> squares) {
            need_range(X.n, begin, end);
            need_length(curvature, X.n, "curvature must hold a number for every row");
            need_length(squares, X.d + 1, "squares must hold a number for every feature and the bias");
            if (sums) need_length(*sums, X.d + 1, "sums must be as long as squares");
            nb::gil_scoped_release free;
            std::visit(
                [&](const auto& table) {
                    curvature_diagonal(table, curvature.data(), begin, end, sums ? sums->data() : nullptr, squares.data());
                },
                X.view);
        },
        "X"_a, "curvature"_a.noconvert(), "begin"_a, "end"_a, "sums"_a.noconvert().none(), "squares"_a.noconvert());
    m.def(
        "two_probabilities",
        [](Vector<double> scores, bool zero_is_second,
           nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
            const i64 n = static_cast<i64>(scores.shape(0));
            if (static_cast<i64>(out.shape(0)) != n || out.shape(1) != 2)
                throw nb::value_error("out must hold two numbers for every score");
            nb::gil_scoped_release free;
            two_probabilities(scores.data(), n, zero_is_second, out.data());
        },
        "scores"_a.noconvert(), "zero_is_second"_a, "out"_a.noconvert());
    using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    m.def(
        "class_probabilities",
        [](nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores, Vector<double> shift,
           Vector<i64> codes, std::optional<Vector<double>> weights, Table P, std::optional<Table> residuals,
           std::optional<Out<double>> wrong, std::optional<Out<double>> losses) {
            const i64 K = static_cast<i64>(scores.shape(0)), n = static_cast<i64>(scores.shape(1));
            const auto need_table = [&](const Table& table, const char* what) {
                if (static_cast<i64>(table.shape(0)) != K || static_cast<i64>(table.shape(1)) != n) throw nb::value_error(what);
            };
            if (K < 1) throw nb::value_error("scores must hold a row for every class");
            need_length(shift, K, "shift must hold a number for every class");
            need_length(codes, n, "codes must hold a number for every row");
            need_table(P, "P must be as large as scores");
            if (weights) need_length(*weights, n, "weights must hold a number for every row");
            if (residuals) need_table(*residuals, "residuals must be as large as scores");
            if (wrong) need_length(*wrong, n, "wrong must hold a number for every row");
            if (losses) need_length(*losses, n, "losses must hold a number for every row");
            nb::gil_scoped_release free;
            return class_probabilities(scores.data(), shift.data(), codes.data(), weights ? weights->data() : nullptr, K,
                                       n, P.data(), residuals ? residuals->data() : nullptr,
                                       wrong ? wrong->data() : nullptr, losses ? losses->data() : nullptr);
        },
        "scores"_a.noconvert(), "shift"_a.noconvert(), "codes"_a.noconvert(), "weights"_a.noconvert().none(),
        "P"_a.noconvert(), "residuals"_a.noconvert().none(), "wrong"_a.noconvert().none(),
        "losses"_a.noconvert().none());
    m.def(
        "rows_above",
        [](const Rows& X, Vector<double> limits, Out<i8> out) {
            need_length(limits, X.d, "limits must hold a number for every feature");
            need_length(out, X.n, "out must hold a number for every row");
            nb::gil_scoped_release free;
            std::visit([&](const auto& table) { rows_above(table, limits.data(), out.data()); }, X.view);
        },
        "X"_a, "limits"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace separatrix
