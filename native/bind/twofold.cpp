#include "separatrix/twofold.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>
#include <vector>

#include "rows.hpp"

namespace separatrix {

void bind_twofold(nb::module_& m) {
    m.def(
        "residual_gradient",
        [](const Rows& X, Vector<double> y, std::optional<Vector<double>> weights, Vector<double> high,
           Vector<double> low, Out<double> g_high, Out<double> g_low, std::optional<Out<double>> residuals) {
            need_length(y, X.n, "y must hold a target for every row");
            if (weights) need_length(*weights, X.n, "weights must hold a number for every row");
            need_length(high, X.d + 1, "high must hold d weights and the bias");
            need_length(low, X.d + 1, "low must hold d weights and the bias");
            need_length(g_high, X.d + 1, "g_high must hold d + 1 numbers");
            need_length(g_low, X.d + 1, "g_low must hold d + 1 numbers");
            if (residuals) need_length(*residuals, X.n, "residuals must hold a number for every row");
            nb::gil_scoped_release free;
            const Twofold squares = std::visit(
                [&](const auto& rows) {
                    return residual_gradient(rows, y.data(), weights ? weights->data() : nullptr, high.data(),
                                             low.data(), g_high.data(), g_low.data(),
                                             residuals ? residuals->data() : nullptr);
                },
                X.view);
            return std::tuple<double, double>(squares.high, squares.low);
        },
        "X"_a, "y"_a.noconvert(), "weights"_a.noconvert().none(), "high"_a.noconvert(), "low"_a.noconvert(),
        "g_high"_a.noconvert(), "g_low"_a.noconvert(), "residuals"_a.noconvert().none());
    m.def(
        "augmented_defects",
        [](const Rows& A, Vector<double> y, std::optional<Vector<double>> weights, Vector<double> x_high,
           Vector<double> x_low, Vector<double> u_high, Vector<double> u_low, Out<double> f, Out<double> g) {
            need_length(y, A.n, "y must hold a target for every row");
            if (weights) need_length(*weights, A.n, "weights must hold a number for every row");
            need_length(x_high, A.d, "x_high must hold a number for every column");
            need_length(x_low, A.d, "x_low must hold a number for every column");
            need_length(u_high, A.n, "u_high must hold a number for every row");
            need_length(u_low, A.n, "u_low must hold a number for every row");
            need_length(f, A.n, "f must hold a number for every row");
            need_length(g, A.d, "g must hold a number for every column");
            nb::gil_scoped_release free;
            std::vector<double> low(static_cast<std::size_t>(A.d), 0.0);
            for (i64 k = 0; k < A.d; ++k) g.data()[k] = 0;
            std::visit(
                [&](const auto& rows) {
                    augmented_defects(rows, y.data(), weights ? weights->data() : nullptr, x_high.data(), x_low.data(),
                                      u_high.data(), u_low.data(), f.data(), g.data(), low.data());
                },
                A.view);
        },
        "A"_a, "y"_a.noconvert(), "weights"_a.noconvert().none(), "x_high"_a.noconvert(), "x_low"_a.noconvert(),
        "u_high"_a.noconvert(), "u_low"_a.noconvert(), "f"_a.noconvert(), "g"_a.noconvert());
    m.def(
        "sum_parts",
        [](In<double, nb::ndim<2>> parts, Out<double> out) {
            const i64 count = static_cast<i64>(parts.shape(0)), length = static_cast<i64>(parts.shape(1));
            if (!count) throw nb::value_error("parts must hold one vector at least");
            need_length(out, length, "out must hold a number for every column of parts");
            nb::gil_scoped_release free;
            sum_parts(parts.data(), count, length, out.data());
        },
        "parts"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace separatrix
