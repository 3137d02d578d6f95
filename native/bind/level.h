/* The instruction-set levels of x86-64, and which of them a processor has.
 *
 * "avx2" is built for x86-64-v3 and "avx512" for x86-64-v4: a compiler may use every extension of the level, so
 * every one is asked for (System V ABI, AMD64 supplement, table 3.1), and whether the operating system saves the
 * registers. Words of answers: cpuid leaf 1 ECX, leaf 7 EBX, leaf 0x80000001 ECX, and XCR0.
 */
#ifndef SEPARATRIX_LEVEL_H
#define SEPARATRIX_LEVEL_H

enum { LEAF_1_ECX, LEAF_7_EBX, EXTENDED_ECX, XCR0, LEVEL_WORDS };

struct feature {
    const char *name;
    int level; /* the first level that needs it: 1 avx2, 2 avx512 */
    int word, bit;
};

static const struct feature features[] = {
    {"sse3", 1, LEAF_1_ECX, 0},
    {"ssse3", 1, LEAF_1_ECX, 9},
    {"fma", 1, LEAF_1_ECX, 12},
    {"cmpxchg16b", 1, LEAF_1_ECX, 13},
    {"sse4_1", 1, LEAF_1_ECX, 19},
    {"sse4_2", 1, LEAF_1_ECX, 20}, /* crc32 too */
    {"movbe", 1, LEAF_1_ECX, 22},
    {"popcnt", 1, LEAF_1_ECX, 23},
    {"xsave", 1, LEAF_1_ECX, 26},
    {"osxsave", 1, LEAF_1_ECX, 27},
    {"avx", 1, LEAF_1_ECX, 28},
    {"f16c", 1, LEAF_1_ECX, 29},
    {"bmi", 1, LEAF_7_EBX, 3},
    {"avx2", 1, LEAF_7_EBX, 5},
    {"bmi2", 1, LEAF_7_EBX, 8},
    {"lahf_sahf", 1, EXTENDED_ECX, 0},
    {"lzcnt", 1, EXTENDED_ECX, 5},
    {"xmm state", 1, XCR0, 1},
    {"ymm state", 1, XCR0, 2},
    {"avx512f", 2, LEAF_7_EBX, 16},
    {"avx512dq", 2, LEAF_7_EBX, 17},
    {"avx512cd", 2, LEAF_7_EBX, 28},
    {"avx512bw", 2, LEAF_7_EBX, 30},
    {"avx512vl", 2, LEAF_7_EBX, 31},
    {"mask state", 2, XCR0, 5},
    {"zmm state", 2, XCR0, 6},
    {"zmm16 state", 2, XCR0, 7},
};
enum { FEATURES = sizeof features / sizeof features[0] };

static const char *const level_names[] = {"baseline", "avx2", "avx512"};

/* The best level whose features, and those of the levels below, are all among the answers. */
static int level_of(const unsigned words[LEVEL_WORDS]) {
    int best = 2;
    for (int k = 0; k < FEATURES; ++k)
        if (!(words[features[k].word] >> features[k].bit & 1u) && features[k].level <= best) best = features[k].level - 1;
    return best;
}

#if defined(__x86_64__) || defined(_M_X64)
#if defined(_MSC_VER)
#include <intrin.h>
static void cpuid(unsigned leaf, unsigned out[4]) { __cpuidex((int *)out, (int)leaf, 0); }
static unsigned xcr0(void) { return (unsigned)_xgetbv(0); }
#else
#include <cpuid.h>
static void cpuid(unsigned leaf, unsigned out[4]) { __cpuid_count(leaf, 0, out[0], out[1], out[2], out[3]); }
static unsigned xcr0(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

static void ask_processor(unsigned words[LEVEL_WORDS]) {
    unsigned r[4], most;
    cpuid(0, r);
    most = r[0];
    cpuid(1, r);
    words[LEAF_1_ECX] = r[2];
    words[LEAF_7_EBX] = words[EXTENDED_ECX] = words[XCR0] = 0;
    if (r[2] >> 27 & 1u) words[XCR0] = xcr0(); /* xgetbv is there if osxsave is */
    if (most >= 7) {
        cpuid(7, r);
        words[LEAF_7_EBX] = r[1];
    }
    cpuid(0x80000000u, r);
    if (r[0] >= 0x80000001u) {
        cpuid(0x80000001u, r);
        words[EXTENDED_ECX] = r[2];
    }
}
#else
static void ask_processor(unsigned words[LEVEL_WORDS]) {
    for (int k = 0; k < LEVEL_WORDS; ++k) words[k] = 0;
}
#endif

#endif
