#include "separatrix/hull.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "rows.hpp"

namespace separatrix {

void bind_hull(nb::module_& m) {
    m.def(
        "nearest_hulls",
        [](In<double, nb::ndim<2>> A, Vector<i8> group, Vector<i64> start, Vector<double> start_weights, double c,
           double zero, i64 max_steps, Out<i64> support, Out<double> weights, Out<double> v) {
            const i64 m = static_cast<i64>(A.shape(0)), q = static_cast<i64>(A.shape(1));
            need_length(group, m, "group must hold a number for every row");
            need_length(v, q, "v must hold a number for every column");
            need_length(start_weights, static_cast<i64>(start.shape(0)), "start needs a weight for every row");
            i64 groups = 0, seen[2] = {};
            for (i64 i = 0; i < m; ++i) {
                if (group.data()[i] != 0 && group.data()[i] != 1) throw nb::value_error("group holds 0 and 1");
                ++seen[group.data()[i]];
            }
            groups = seen[1] ? 2 : 1;
            if (!seen[0]) throw nb::value_error("group 0 has no rows");
            need_length(support, q + groups, "support must hold a row for every column and group");
            need_length(weights, q + groups, "weights must hold a row for every column and group");
            for (std::size_t t = 0; t < start.shape(0); ++t)
                if (start.data()[t] < 0 || start.data()[t] >= m) throw nb::value_error("start leaves the rows");
            const std::vector<i64> first(start.data(), start.data() + start.shape(0));
            const std::vector<double> x(start_weights.data(), start_weights.data() + start.shape(0));
            Hull hull(A.data(), group.data(), m, q, groups);
            Hull::Status status;
            {
                nb::gil_scoped_release free;
                status = hull.solve(first, x, c, zero, max_steps, [] {
                    nb::gil_scoped_acquire held;
                    return PyErr_CheckSignals() == 0;
                });
            }
            if (status == Hull::interrupted) throw nb::python_error();
            std::copy(hull.support.begin(), hull.support.end(), support.data());
            std::copy(hull.x.begin(), hull.x.end(), weights.data());
            std::copy(hull.v.begin(), hull.v.end(), v.data());
            return std::tuple<int, i64, i64>(status, static_cast<i64>(hull.support.size()), hull.steps);
        },
        "A"_a.noconvert(), "group"_a.noconvert(), "start"_a.noconvert(), "start_weights"_a.noconvert(), "c"_a,
        "zero"_a, "max_steps"_a, "support"_a.noconvert(), "weights"_a.noconvert(), "v"_a.noconvert());
}

}  // namespace separatrix
