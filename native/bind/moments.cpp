#include "separatrix/moments.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "rows.hpp"

namespace separatrix {

template <class T, int N>
using OutN = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

static Moments checked(Out<i64>& rows, Out<i64>& fill, Out<double>& weight, OutN<double, 3>& mean,
                       OutN<double, 3>& scatter, OutN<double, 3>& block, OutN<double, 2>& block_weight) {
    const i64 classes = static_cast<i64>(rows.shape(0)), q = static_cast<i64>(mean.shape(2));
    const i64 ld = (q + panel - 1) / panel * panel, tables = static_cast<i64>(scatter.shape(0));
    need_length(fill, classes, "fill must hold a number for every class");
    need_length(weight, classes, "weight must hold a number for every class");
    if (mean.shape(0) != 2 || static_cast<i64>(mean.shape(1)) != classes)
        throw nb::value_error("mean must be two vectors a class");
    if (tables != 1 && tables != classes) throw nb::value_error("scatter must be one table, or one a class");
    if (static_cast<i64>(scatter.shape(1)) != ld || static_cast<i64>(scatter.shape(2)) != ld)
        throw nb::value_error("scatter must be square and padded to whole panels");
    if (static_cast<i64>(block.shape(0)) != classes || static_cast<i64>(block.shape(1)) != block_rows ||
        static_cast<i64>(block.shape(2)) != q)
        throw nb::value_error("block must have block_rows rows a class");
    if (static_cast<i64>(block_weight.shape(0)) != classes || static_cast<i64>(block_weight.shape(1)) != block_rows)
        throw nb::value_error("block_weight must have block_rows numbers a class");
    for (i64 k = 0; k < classes; ++k)
        if (fill.data()[k] < 0 || fill.data()[k] >= block_rows) throw nb::value_error("fill leaves the block");
    return {q,           rows.data(),    fill.data(),  weight.data(),       mean.data(), mean.data() + classes * q,
            scatter.data(), block.data(), block_weight.data(), tables == 1};
}

void bind_moments(nb::module_& m) {
    m.attr("block_rows") = block_rows;
    m.def(
        "moments_add",
        [](const Rows& X, std::optional<In<double, nb::ndim<2>>> targets, std::optional<Vector<i64>> code,
           std::optional<Vector<double>> weights, i64 begin, i64 end, Out<i64> rows, Out<i64> fill, Out<double> weight,
           OutN<double, 3> mean, OutN<double, 3> scatter, OutN<double, 3> block, OutN<double, 2> block_weight) {
            const Moments state = checked(rows, fill, weight, mean, scatter, block, block_weight);
            const i64 extra = targets ? static_cast<i64>(targets->shape(1)) : 0;
            if (targets) need_length(*targets, X.n, "targets must have a row for every row");
            if (X.d + extra != state.columns) throw nb::value_error("features and targets must fill the columns");
            need_range(X.n, begin, end);
            if (weights) need_length(*weights, X.n, "weights must hold a number for every row");
            const i64 classes = static_cast<i64>(rows.shape(0));
            if (!code && classes != 1) throw nb::value_error("code must name the class of every row");
            if (code) {
                need_length(*code, X.n, "code must name the class of every row");
                need_below(*code, begin, end, classes, "code names a class that does not exist");
            }
            nb::gil_scoped_release free;
            std::visit(
                [&](const auto& table) {
                    moments_add(table, targets ? targets->data() : nullptr, extra, code ? code->data() : nullptr,
                                weights ? weights->data() : nullptr, begin, end, classes, state);
                },
                X.view);
        },
        "X"_a, "targets"_a.noconvert().none(), "code"_a.noconvert().none(), "weights"_a.noconvert().none(), "begin"_a,
        "end"_a, "rows"_a.noconvert(), "fill"_a.noconvert(), "weight"_a.noconvert(), "mean"_a.noconvert(),
        "scatter"_a.noconvert(), "block"_a.noconvert(), "block_weight"_a.noconvert());
    m.def(
        "moments_flush",
        [](Out<i64> rows, Out<i64> fill, Out<double> weight, OutN<double, 3> mean, OutN<double, 3> scatter,
           OutN<double, 3> block, OutN<double, 2> block_weight) {
            const Moments state = checked(rows, fill, weight, mean, scatter, block, block_weight);
            nb::gil_scoped_release free;
            moments_flush(state, static_cast<i64>(rows.shape(0)));
        },
        "rows"_a.noconvert(), "fill"_a.noconvert(), "weight"_a.noconvert(), "mean"_a.noconvert(),
        "scatter"_a.noconvert(), "block"_a.noconvert(), "block_weight"_a.noconvert());
    m.def(
        "moments_merge",
        [](Vector<i64> other_rows, Vector<double> other_weight, In<double, nb::ndim<3>> other_mean,
           In<double, nb::ndim<3>> other_scatter, Out<i64> rows, Out<i64> fill, Out<double> weight,
           OutN<double, 3> mean, OutN<double, 3> scatter, OutN<double, 3> block, OutN<double, 2> block_weight) {
            const Moments state = checked(rows, fill, weight, mean, scatter, block, block_weight);
            const i64 classes = static_cast<i64>(rows.shape(0));
            need_length(other_rows, classes, "other_rows must hold a number for every class");
            need_length(other_weight, classes, "other_weight must hold a number for every class");
            for (int axis = 0; axis < 3; ++axis)
                if (other_mean.shape(axis) != mean.shape(axis) || other_scatter.shape(axis) != scatter.shape(axis))
                    throw nb::value_error("means and scatter must have the same shape in both");
            const AddedMoments other{other_rows.data(), other_weight.data(), other_mean.data(),
                                     other_mean.data() + classes * state.columns, other_scatter.data()};
            nb::gil_scoped_release free;
            moments_merge(state, other, classes);
        },
        "other_rows"_a.noconvert(), "other_weight"_a.noconvert(), "other_mean"_a.noconvert(),
        "other_scatter"_a.noconvert(), "rows"_a.noconvert(), "fill"_a.noconvert(), "weight"_a.noconvert(),
        "mean"_a.noconvert(), "scatter"_a.noconvert(), "block"_a.noconvert(), "block_weight"_a.noconvert());
}

}  // namespace separatrix
