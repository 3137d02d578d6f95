#include "separatrix/exact.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "rows.hpp"
#include "separatrix/opposites.hpp"

namespace separatrix {

void bind_exact(nb::module_& m) {
    m.def(
        "exact_signs",
        [](const Rows& X, Vector<i8> y, bool intercept, In<double, nb::ndim<2>> w,
           std::optional<Vector<i64>> active, Out<i8> sign) {
            const i64 m = active ? static_cast<i64>(active->shape(0)) : X.n;
            need_length(y, X.n, "y must hold a label for every row");
            need_length(sign, m, "sign must hold a number for every row");
            if (active) need_below(*active, X.n, "active leaves the rows");
            if (w.shape(0) < 1 || static_cast<i64>(w.shape(1)) != X.d + (intercept ? 1 : 0))
                throw nb::value_error("w must hold a number for every column");
            nb::gil_scoped_release free;
            return std::visit(
                [&](const auto& rows) {
                    return exact_signs(rows, y.data(), intercept, w.data(), static_cast<i64>(w.shape(0)),
                                       active ? active->data() : nullptr, m, sign.data());
                },
                X.view);
        },
        "X"_a, "y"_a.noconvert(), "intercept"_a, "w"_a.noconvert(), "active"_a.noconvert().none(),
        "sign"_a.noconvert());
    m.def(
        "bounded_scores",
        [](const Rows& X, Vector<double> lifted, Out<double> score, Out<double> bound) {
            need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
            need_length(score, X.n, "score must hold a number for every row");
            need_length(bound, X.n, "bound must hold a number for every row");
            nb::gil_scoped_release free;
            std::visit([&](const auto& rows) { bounded_scores(rows, lifted.data(), score.data(), bound.data()); },
                       X.view);
        },
        "X"_a, "lifted"_a.noconvert(), "score"_a.noconvert(), "bound"_a.noconvert());
    m.def(
        "opposites",
        [](const Rows& X, Vector<i8> y, Out<i64> partner) {
            need_length(y, X.n, "y must hold a label for every row");
            need_length(partner, X.n, "partner must hold a number for every row");
            nb::gil_scoped_release free;
            return std::visit([&](const auto& rows) { return opposites(rows, y.data(), partner.data()); }, X.view);
        },
        "X"_a, "y"_a.noconvert(), "partner"_a.noconvert());
}

}  // namespace separatrix
