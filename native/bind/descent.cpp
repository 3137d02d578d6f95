#include "separatrix/descent.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "rows.hpp"

namespace separatrix {

using MaybeOut = std::optional<Out<double>>;

template <class Do>
static auto with_loss(int loss, Do&& run) {
    switch (static_cast<LossKind>(loss)) {
        case LossKind::squared: return run.template operator()<LossKind::squared>();
        case LossKind::perceptron: return run.template operator()<LossKind::perceptron>();
        case LossKind::logistic: return run.template operator()<LossKind::logistic>();
        case LossKind::hinge: return run.template operator()<LossKind::hinge>();
        case LossKind::error: return run.template operator()<LossKind::error>();
    }
    throw nb::value_error("loss must be a number from 0 to 4");
}

void bind_descent(nb::module_& m) {
    m.def(
        "descent_pass",
        [](const Rows& X, Vector<double> y, std::optional<Vector<double>> weights, std::optional<Vector<i64>> order,
           Vector<double> alpha, i64 begin, i64 end, int loss, Out<double> lifted, Out<double> factor,
           MaybeOut velocity, MaybeOut average, Out<double> gradient, Out<i64> counts, Out<double> sums,
           MaybeOut reach, std::optional<Vector<double>> columns, i64 batch, double l2, double l1, double momentum, bool bias) {
            need_length(y, X.n, "y must hold a target for every row");
            if (weights) need_length(*weights, X.n, "weights must hold a number for every row");
            need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
            need_length(gradient, X.d + 1, "gradient must hold d + 1 numbers");
            need_length(factor, 1, "factor must be one number");
            need_length(counts, 2, "counts must be two numbers");
            need_length(sums, 2, "sums must be two numbers");
            if (velocity) need_length(*velocity, X.d + 1, "velocity must hold d + 1 numbers");
            if (average) need_length(*average, X.d + 1, "average must hold d + 1 numbers");
            if (reach) need_length(*reach, 1, "reach must be one number");
            if (columns) need_length(*columns, X.d, "columns must hold a number for every column");
            if (batch < 1) throw nb::value_error("batch must be at least 1");
            if (counts.data()[0] < 0 || counts.data()[0] >= batch)
                throw nb::value_error("counts must hold fewer rows than a batch");
            need_positions(order, X.n, begin, end);
            if (static_cast<i64>(alpha.shape(0)) < (end - begin) / batch + 2)
                throw nb::value_error("alpha must hold a number for every step");
            const Descent p{lifted.data(),
                            factor.data(),
                            velocity ? velocity->data() : nullptr,
                            average ? average->data() : nullptr,
                            gradient.data(),
                            counts.data(),
                            sums.data(),
                            reach ? reach->data() : nullptr,
                            columns ? columns->data() : nullptr,
                            batch,
                            l2,
                            l1,
                            momentum,
                            bias};
            nb::gil_scoped_release free;
            with_loss(loss, [&]<LossKind kind>() {
                std::visit(
                    [&](const auto& rows) {
                        descent_pass<kind>(rows, y.data(), weights ? weights->data() : nullptr,
                                           order ? order->data() : nullptr, alpha.data(), begin, end, p);
                    },
                    X.view);
            });
        },
        "X"_a, "y"_a.noconvert(), "weights"_a.noconvert().none(), "order"_a.noconvert().none(), "alpha"_a.noconvert(),
        "begin"_a, "end"_a, "loss"_a, "lifted"_a.noconvert(), "factor"_a.noconvert(), "velocity"_a.noconvert().none(),
        "average"_a.noconvert().none(), "gradient"_a.noconvert(), "counts"_a.noconvert(), "sums"_a.noconvert(),
        "reach"_a.noconvert().none(), "columns"_a.noconvert().none(), "batch"_a, "l2"_a, "l1"_a, "momentum"_a, "bias"_a);
    m.def(
        "mean_loss",
        [](const Rows& X, Vector<double> y, std::optional<Vector<double>> weights, int loss, Vector<double> lifted,
           Out<double> g) {
            need_length(y, X.n, "y must hold a target for every row");
            if (weights) need_length(*weights, X.n, "weights must hold a number for every row");
            need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
            need_length(g, X.d + 1, "g must hold d + 1 numbers");
            nb::gil_scoped_release free;
            return with_loss(loss, [&]<LossKind kind>() {
                return std::visit(
                    [&](const auto& rows) {
                        return mean_loss<kind>(rows, y.data(), weights ? weights->data() : nullptr, lifted.data(),
                                               g.data());
                    },
                    X.view);
            });
        },
        "X"_a, "y"_a.noconvert(), "weights"_a.noconvert().none(), "loss"_a, "lifted"_a.noconvert(), "g"_a.noconvert());
}

}  // namespace separatrix
