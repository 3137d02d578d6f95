/* Which level may be loaded here: "avx512" (x86-64-v4), "avx2" (x86-64-v3) or "baseline". */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static const char *best_level(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    int v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    int v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    return v4 ? "avx512" : v3 ? "avx2" : "baseline";
#else
    return "baseline";
#endif
}

static PyObject *level(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    return PyUnicode_FromString(best_level());
}

static PyMethodDef methods[] = {
    {"level", level, METH_NOARGS, "The best instruction-set level of this processor."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_cpu", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__cpu(void) { return PyModule_Create(&module); }
