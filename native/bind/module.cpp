// One module per instruction-set level; its name comes from the build.
#include "rows.hpp"

namespace separatrix {
void bind_rows(nb::module_&);
void bind_linear(nb::module_&);
void bind_perceptron(nb::module_&);
void bind_online(nb::module_&);
void bind_moments(nb::module_&);
void bind_twofold(nb::module_&);
void bind_descent(nb::module_&);
void bind_decide(nb::module_&);
void bind_exact(nb::module_&);
void bind_voted(nb::module_&);
void bind_pocket(nb::module_&);
void bind_dual(nb::module_&);
void bind_late_scores(nb::module_&);
void bind_text(nb::module_&);
void bind_table_text(nb::module_&);
void bind_logistic(nb::module_&);
void bind_mistakes(nb::module_&);
void bind_hull(nb::module_&);
void bind_lasso(nb::module_&);
void bind_central_path(nb::module_&);
void bind_hinge(nb::module_&);
void bind_monomials(nb::module_&);
}  // namespace separatrix

#define DEFINE_MODULE(name, m) NB_MODULE(name, m)

DEFINE_MODULE(SEPARATRIX_MODULE, m) {
    m.doc() = "The compiled kernels: every module _native_<level> has these names, and so has tests/reference.\n"
              "\n"
              "Written by make stub from the compiled module.";
    m.attr("level") = SEPARATRIX_LEVEL;
    separatrix::bind_rows(m);
    separatrix::bind_linear(m);
    separatrix::bind_perceptron(m);
    separatrix::bind_online(m);
    separatrix::bind_moments(m);
    separatrix::bind_twofold(m);
    separatrix::bind_descent(m);
    separatrix::bind_decide(m);
    separatrix::bind_exact(m);
    separatrix::bind_voted(m);
    separatrix::bind_pocket(m);
    separatrix::bind_dual(m);
    separatrix::bind_late_scores(m);
    separatrix::bind_text(m);
    separatrix::bind_table_text(m);
    separatrix::bind_logistic(m);
    separatrix::bind_mistakes(m);
    separatrix::bind_hull(m);
    separatrix::bind_lasso(m);
    separatrix::bind_central_path(m);
    separatrix::bind_hinge(m);
    separatrix::bind_monomials(m);
}
