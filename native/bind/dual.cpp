#include "dual.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

namespace separatrix {

using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_dual(nb::module_& m) {
    m.def(
        "kernel_column",
        [](const Rows& X, Vector<double> norm2, i64 i, int kind, double gamma, double coef0, i64 degree,
           Out<double> out) {
            need_length(norm2, X.n, "norm2 must hold a number for every row");
            need_length(out, X.n, "out must hold a number for every row");
            if (i < 0 || i >= X.n) throw nb::value_error("i names a row that does not exist");
            const Kernel k = kernel_of(kind, gamma, coef0, degree);
            nb::gil_scoped_release free;
            std::visit(
                [&](const auto& rows) {
                    std::vector<double> z(static_cast<std::size_t>(rows.d));
                    spread(rows, i, z.data());
                    kernel_row(rows, norm2.data(), k, z.data(), norm2.data()[i], out.data());
                },
                X.view);
        },
        "X"_a, "norm2"_a.noconvert(), "i"_a, "kind"_a, "gamma"_a, "coef0"_a, "degree"_a, "out"_a.noconvert());
    m.def(
        "kernel_scores",
        [](const Rows& S, Vector<double> support_norm2, In<double, nb::ndim<2>> a, const Rows& X, Vector<double> norm2,
           int kind, double gamma, double coef0, i64 degree, double one, Matrix out) {
            if (S.d != X.d) throw nb::value_error("the support rows and X must have the same features");
            need_length(support_norm2, S.n, "support_norm2 must hold a number for every support row");
            need_length(norm2, X.n, "norm2 must hold a number for every row");
            const i64 vectors = static_cast<i64>(a.shape(0));
            if (static_cast<i64>(a.shape(1)) != S.n) throw nb::value_error("a must hold a number for every support row");
            if (static_cast<i64>(out.shape(0)) != X.n || static_cast<i64>(out.shape(1)) != vectors)
                throw nb::value_error("out must hold a score for every row and vector");
            const Kernel k = kernel_of(kind, gamma, coef0, degree);
            nb::gil_scoped_release free;
            const auto spread_row = [&](i64 i, double* z) {
                std::visit([&](const auto& rows) { spread(rows, i, z); }, X.view);
            };
            std::visit(
                [&](const auto& support) {
                    kernel_scores(support, support_norm2.data(), a.data(), vectors, X.n, spread_row, norm2.data(), k,
                                  one, out.data());
                },
                S.view);
        },
        "S"_a, "support_norm2"_a.noconvert(), "a"_a.noconvert(), "X"_a, "norm2"_a.noconvert(), "kind"_a, "gamma"_a,
        "coef0"_a, "degree"_a, "one"_a, "out"_a.noconvert());
    m.def(
        "kernel_update",
        [](const Rows& X, Vector<double> norm2, int kind, double gamma, double coef0, i64 degree, Vector<i64> row,
           Vector<double> a, double one, i64 begin, i64 end, Out<double> scores) {
            need_length(norm2, X.n, "norm2 must hold a number for every row");
            need_length(scores, X.n, "scores must hold a number for every row");
            need_length(a, static_cast<i64>(row.shape(0)), "a must hold a number for every entry");
            need_range(X.n, begin, end);
            need_below(row, X.n, "row names a row that does not exist");
            const Kernel k = kernel_of(kind, gamma, coef0, degree);
            nb::gil_scoped_release free;
            std::visit(
                [&](const auto& rows) {
                    kernel_update(rows, norm2.data(), k, row.data(), a.data(), static_cast<i64>(row.shape(0)), one,
                                  begin, end, scores.data());
                },
                X.view);
        },
        "X"_a, "norm2"_a.noconvert(), "kind"_a, "gamma"_a, "coef0"_a, "degree"_a, "row"_a.noconvert(),
        "a"_a.noconvert(), "one"_a, "begin"_a, "end"_a, "scores"_a.noconvert());
    m.def(
        "first_mistake",
        [](Vector<double> s, Vector<i8> y, std::optional<Vector<i64>> order, i64 begin, i64 end, bool zero_is_mistake) {
            const i64 n = static_cast<i64>(s.shape(0));
            need_length(y, n, "y must hold a label for every score");
            need_positions(order, n, begin, end);
            nb::gil_scoped_release free;
            return first_mistake(s.data(), y.data(), order ? order->data() : nullptr, begin, end, zero_is_mistake);
        },
        "s"_a.noconvert(), "y"_a.noconvert(), "order"_a.noconvert().none(), "begin"_a, "end"_a, "zero_is_mistake"_a);
}

}  // namespace separatrix
