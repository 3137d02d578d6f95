#include "separatrix/central_path.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <tuple>

#include "rows.hpp"

namespace separatrix {

using In1 = Vector<double>;

static MarginPoint point(const In1& y, const In1& cost, const In1& z, const In1& s, const In1& t, const In1& score) {
    const i64 n = static_cast<i64>(y.shape(0));
    for (const In1* a : {&cost, &z, &s, &t, &score}) need_length(*a, n, "the vectors must hold a number for every row");
    return {y.data(), cost.data(), z.data(), s.data(), t.data(), score.data(), n};
}

template <class... Arrays>
static void need_rows(i64 n, const Arrays&... arrays) {
    (need_length(arrays, n, "the vectors must hold a number for every row"), ...);
}

void bind_central_path(nb::module_& m) {
    m.def(
        "margin_system",
        [](In1 y, In1 cost, In1 z, In1 s, In1 t, In1 score, Out<double> weight, Out<double> right) {
            const MarginPoint p = point(y, cost, z, s, t, score);
            need_rows(p.n, weight, right);
            nb::gil_scoped_release free;
            const MarginSystem found = margin_system(p, weight.data(), right.data());
            return std::tuple(found.weights, found.right);
        },
        "y"_a.noconvert(), "cost"_a.noconvert(), "z"_a.noconvert(), "s"_a.noconvert(), "t"_a.noconvert(),
        "score"_a.noconvert(), "weight"_a.noconvert(), "right"_a.noconvert());
    m.def(
        "margin_predictor",
        [](In1 y, In1 cost, In1 z, In1 s, In1 t, In1 score, In1 weight, In1 moved, Out<double> dz) {
            const MarginPoint p = point(y, cost, z, s, t, score);
            need_rows(p.n, weight, moved, dz);
            nb::gil_scoped_release free;
            const MarginPredictor found = margin_predictor(p, weight.data(), moved.data(), dz.data());
            return std::tuple(std::array{found.rise, found.fall, found.free_rise, found.free_fall},
                              std::to_array(found.below), std::to_array(found.above));
        },
        "y"_a.noconvert(), "cost"_a.noconvert(), "z"_a.noconvert(), "s"_a.noconvert(), "t"_a.noconvert(),
        "score"_a.noconvert(), "weight"_a.noconvert(), "moved"_a.noconvert(), "dz"_a.noconvert());
    m.def(
        "margin_corrector",
        [](In1 y, In1 cost, In1 z, In1 s, In1 t, In1 score, In1 weight, In1 dz, double aim, Out<double> low,
           Out<double> high, Out<double> right) {
            const MarginPoint p = point(y, cost, z, s, t, score);
            need_rows(p.n, weight, dz, low, high, right);
            nb::gil_scoped_release free;
            return margin_corrector(p, weight.data(), dz.data(), aim, low.data(), high.data(), right.data());
        },
        "y"_a.noconvert(), "cost"_a.noconvert(), "z"_a.noconvert(), "s"_a.noconvert(), "t"_a.noconvert(),
        "score"_a.noconvert(), "weight"_a.noconvert(), "dz"_a.noconvert(), "aim"_a, "low"_a.noconvert(),
        "high"_a.noconvert(), "right"_a.noconvert());
    m.def(
        "margin_direction",
        [](In1 y, In1 cost, In1 z, In1 s, In1 t, In1 score, In1 weight, In1 moved, Out<double> dz, Out<double> low,
           Out<double> high) {
            const MarginPoint p = point(y, cost, z, s, t, score);
            need_rows(p.n, weight, moved, dz, low, high);
            nb::gil_scoped_release free;
            return margin_direction(p, weight.data(), moved.data(), dz.data(), low.data(), high.data());
        },
        "y"_a.noconvert(), "cost"_a.noconvert(), "z"_a.noconvert(), "s"_a.noconvert(), "t"_a.noconvert(),
        "score"_a.noconvert(), "weight"_a.noconvert(), "moved"_a.noconvert(), "dz"_a.noconvert(), "low"_a.noconvert(),
        "high"_a.noconvert());
}

}  // namespace separatrix
