#include "separatrix/late_scores.hpp"

#include "dual.hpp"

namespace separatrix {

struct BoundLateScores {
    std::unique_ptr<LateScores> scores;
    nb::object owners;
};

static void need_block(const LateScores& scores, i64 begin, i64 end) {
    const bool one = begin == end || begin / scores.block == (end - 1) / scores.block;
    if (begin < 0 || end > scores.n || begin > end || end < 1 || !one)
        throw nb::value_error("begin and end leave the rows of a block");
}

void bind_late_scores(nb::module_& m) {
    nb::class_<BoundLateScores>(m, "LateScores")
        .def(
            "__init__",
            [](BoundLateScores* self, const Rows& X, Vector<double> norm2, int kind, double gamma, double coef0,
               i64 degree, double one, bool screened) {
                need_length(norm2, X.n, "norm2 must hold a number for every row");
                const Kernel k = kernel_of(kind, gamma, coef0, degree);
                auto scores = std::visit(
                    [&](const auto& view) -> std::unique_ptr<LateScores> {
                        using View = std::decay_t<decltype(view)>;
                        return std::make_unique<LateScoresOf<View>>(view, norm2.data(), k, one, screened);
                    },
                    X.view);
                new (self) BoundLateScores{std::move(scores), nb::make_tuple(X.owners, nb::cast(norm2))};
            },
            "X"_a, "norm2"_a.noconvert(), "kind"_a, "gamma"_a, "coef0"_a, "degree"_a, "one"_a, "screened"_a)
        .def("another", [](const BoundLateScores& self) { return BoundLateScores{self.scores->another(), self.owners}; })
        .def(
            "add",
            [](BoundLateScores& self, i64 i, double a) {
                if (i < 0 || i >= self.scores->n) throw nb::value_error("i names a row that does not exist");
                self.scores->add(i, a);
            },
            "i"_a, "a"_a)
        .def(
            "next_mistake",
            [](BoundLateScores& self, Vector<i8> y, i64 begin, i64 end, bool zero_is_mistake) {
                need_length(y, self.scores->n, "y must hold a label for every row");
                need_block(*self.scores, begin, end);
                nb::gil_scoped_release free;
                return self.scores->next_mistake(y.data(), begin, end, zero_is_mistake);
            },
            "y"_a.noconvert(), "begin"_a, "end"_a, "zero_is_mistake"_a)
        .def(
            "mistakes",
            [](BoundLateScores& self, Vector<i8> y, i64 begin, i64 end, bool zero_is_mistake) {
                need_length(y, self.scores->n, "y must hold a label for every row");
                need_block(*self.scores, begin, end);
                nb::gil_scoped_release free;
                return self.scores->mistakes(y.data(), begin, end, zero_is_mistake);
            },
            "y"_a.noconvert(), "begin"_a, "end"_a, "zero_is_mistake"_a)
        .def(
            "exact",
            [](BoundLateScores& self, Vector<i64> rows, Out<double> out) {
                need_length(out, static_cast<i64>(rows.shape(0)), "out must hold a number for every row asked for");
                need_below(rows, self.scores->n, "rows names a row that does not exist");
                nb::gil_scoped_release free;
                for (std::size_t r = 0; r < rows.shape(0); ++r) {
                    self.scores->catch_up(rows.data()[r]);
                    out.data()[r] = self.scores->exact(rows.data()[r]);
                }
            },
            "rows"_a.noconvert(), "out"_a.noconvert())
        .def(
            "bounds",
            [](BoundLateScores& self, Out<double> s, Out<double> e) {
                need_length(s, self.scores->n, "s must hold a number for every row");
                need_length(e, self.scores->n, "e must hold a number for every row");
                nb::gil_scoped_release free;
                self.scores->bounds(s.data(), e.data());
            },
            "s"_a.noconvert(), "e"_a.noconvert())
        .def(
            "finite",
            [](BoundLateScores& self, i64 begin, i64 end) {
                need_block(*self.scores, begin, end);
                nb::gil_scoped_release free;
                return self.scores->finite(begin, end);
            },
            "begin"_a, "end"_a)
        .def_prop_ro("n", [](const BoundLateScores& self) { return self.scores->n; })
        .def_prop_ro("block", [](const BoundLateScores& self) { return self.scores->block; })
        .def_prop_ro("screened", [](const BoundLateScores& self) { return self.scores->screened(); });
}

}  // namespace separatrix
