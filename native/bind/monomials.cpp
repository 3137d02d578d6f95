#include "separatrix/monomials.hpp"

#include "rows.hpp"

namespace separatrix {

template <class T>
void bind_monomials_of(nb::module_& m) {
    m.def(
        "monomials",
        [](In<T, nb::ndim<2>> X, In<i64, nb::ndim<2>> products,
           nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
            const i64 n = static_cast<i64>(X.shape(0)), d = static_cast<i64>(X.shape(1));
            const i64 count = static_cast<i64>(products.shape(0)), width = static_cast<i64>(out.shape(1));
            if (static_cast<i64>(out.shape(0)) != n) throw nb::value_error("out must have as many rows as X");
            if (products.shape(1) != 4) throw nb::value_error("products must hold four numbers each");
            const Product* every = reinterpret_cast<const Product*>(products.data());
            i64 made = d;
            for (const Product* p = every; p < every + count; made += p++->length)
                if (p->j < 0 || p->j >= d || p->lower < 0 || p->length < 0 || p->place != made || p->lower > made ||
                    p->length > made - p->lower || p->length > width - made)
                    throw nb::value_error("products lead outside the columns, or to columns that are not made yet");
            if (made != width) throw nb::value_error("out must hold the columns of X and all products");
            nb::gil_scoped_release free;
            monomials(X.data(), n, d, every, count, width, out.data());
        },
        "X"_a.noconvert(), "products"_a.noconvert(), "out"_a.noconvert());
}

void bind_monomials(nb::module_& m) {
    bind_monomials_of<double>(m);
    bind_monomials_of<float>(m);
}

}  // namespace separatrix
