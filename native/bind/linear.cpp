#include "separatrix/linear.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "rows.hpp"

namespace separatrix {

void bind_linear(nb::module_& m) {
    m.def(
        "scores",
        [](const Rows& X, Vector<double> lifted, Out<double> out) {
            need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
            need_length(out, X.n, "out must hold a score for every row");
            nb::gil_scoped_release free;
            std::visit([&](const auto& rows) { scores(rows, lifted.data(), out.data()); }, X.view);
        },
        "X"_a, "lifted"_a.noconvert(), "out"_a.noconvert());
    m.def(
        "class_scores",
        [](const Rows& X, In<double, nb::ndim<2>> coef, Vector<double> intercept,
           nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out, std::optional<Vector<i64>> model) {
            const i64 vectors = static_cast<i64>(coef.shape(0)), K = static_cast<i64>(out.shape(1));
            if (static_cast<i64>(coef.shape(1)) != X.d) throw nb::value_error("coef must hold d weights a class");
            need_length(intercept, vectors, "intercept must hold a bias for every class");
            if (static_cast<i64>(out.shape(0)) != X.n || K < 1 || vectors % K != 0 || (!model && vectors != K))
                throw nb::value_error("out must hold a score for every row and class");
            if (model) {
                need_length(*model, X.n, "model must hold a number for every row");
                need_below(*model, vectors / K, "model names a model that does not exist");
            }
            nb::gil_scoped_release free;
            const i64* which = model ? model->data() : nullptr;
            std::visit(
                [&](const auto& rows) { class_scores(rows, coef.data(), intercept.data(), K, which, out.data()); },
                X.view);
        },
        "X"_a, "coef"_a.noconvert(), "intercept"_a.noconvert(), "out"_a.noconvert(),
        "model"_a.noconvert().none() = nb::none());
    m.def(
        "first_nonfinite",
        [](In<double> x) {
            nb::gil_scoped_release free;
            return first_nonfinite(x.data(), static_cast<i64>(x.size()));
        },
        "x"_a.noconvert());
    m.def(
        "first_nonfinite",
        [](In<float> x) {
            nb::gil_scoped_release free;
            return first_nonfinite(x.data(), static_cast<i64>(x.size()));
        },
        "x"_a.noconvert());
    m.def(
        "norms2",
        [](const Rows& X, Out<double> out) {
            need_length(out, X.n, "out must hold a number for every row");
            nb::gil_scoped_release free;
            std::visit([&](const auto& rows) { norms2(rows, out.data()); }, X.view);
        },
        "X"_a, "out"_a.noconvert());
    m.def(
        "errors",
        [](const Rows& X, Vector<i8> y, Vector<double> lifted, bool zero_is_mistake) {
            need_length(y, X.n, "y must hold a label for every row");
            need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
            nb::gil_scoped_release free;
            return std::visit(
                [&](const auto& rows) { return errors(rows, y.data(), lifted.data(), zero_is_mistake); }, X.view);
        },
        "X"_a, "y"_a.noconvert(), "lifted"_a.noconvert(), "zero_is_mistake"_a);
    m.def(
        "class_errors",
        [](const Rows& X, Vector<i64> code, In<double, nb::ndim<2>> lifted, bool tie_is_mistake) {
            const i64 K = static_cast<i64>(lifted.shape(0));
            need_length(code, X.n, "code must hold a number for every row");
            if (static_cast<i64>(lifted.shape(1)) != X.d + 1)
                throw nb::value_error("lifted must hold d weights and the bias of every class");
            for (i64 i = 0; i < X.n; ++i)
                if (code.data()[i] >= K) throw nb::value_error("code names a class that does not exist");
            nb::gil_scoped_release free;
            return std::visit(
                [&](const auto& rows) { return class_errors(rows, code.data(), lifted.data(), K, tie_is_mistake); },
                X.view);
        },
        "X"_a, "code"_a.noconvert(), "lifted"_a.noconvert(), "tie_is_mistake"_a);
}

}  // namespace separatrix
