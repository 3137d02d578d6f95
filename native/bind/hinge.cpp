#include "separatrix/hinge.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "rows.hpp"

namespace separatrix {

void bind_hinge(nb::module_& m) {
    m.def(
        "hinge_pass",
        [](const Rows& X, Vector<i8> y, Out<i64> order, Vector<double> cost, Vector<double> curvature, double rho,
           double high, double low, Out<double> z, Out<double> w, Out<double> bias) {
            const i64 count = static_cast<i64>(order.shape(0));
            for (i64 t = 0; t < count; ++t)
                if (order.data()[t] < 0 || order.data()[t] >= X.n)
                    throw nb::value_error("order names a row that does not exist");
            need_length(y, X.n, "y must hold a label for every row");
            need_length(cost, X.n, "cost must hold a number for every row");
            need_length(curvature, X.n, "curvature must hold a number for every row");
            need_length(z, X.n, "z must hold a number for every row");
            need_length(w, X.d, "w must be as long as a row of X");
            need_length(bias, 1, "bias is one number");
            nb::gil_scoped_release free;
            const HingePass found = std::visit(
                [&](const auto& rows) {
                    return hinge_pass(rows, y.data(), order.data(), count, cost.data(), curvature.data(), rho, high,
                                      low, z.data(), w.data(), *bias.data());
                },
                X.view);
            return std::tuple(found.kept, found.most, found.least);
        },
        "X"_a, "y"_a.noconvert(), "order"_a.noconvert(), "cost"_a.noconvert(), "curvature"_a.noconvert(), "rho"_a,
        "high"_a, "low"_a, "z"_a.noconvert(), "w"_a.noconvert(), "bias"_a.noconvert());
}

}  // namespace separatrix
