// Numbers out of text: the reader of one number, and svmlight lines, straight into the arrays of the caller.
//
// A decimal with at most 19 digits and a small exponent is one exact product or quotient of two doubles
// (Clinger 1990); all others go to std::from_chars, which rounds correctly. Up to eight digits are found and
// read in one word without a loop (after Lemire 2021), so that the number of digits costs no mispredicted branch.
// The arrays have a size; a piece of text that needs more room is a fault of its own.
#pragma once
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#if !defined(__cpp_lib_to_chars)
#include <locale.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

#include "separatrix/rows.hpp"

namespace separatrix {

enum class Fault : int { none, number, index, order, columns, label, room };

struct Parsed {
    i64 rows = 0, entries = 0;
    i64 least = std::numeric_limits<i64>::max(), most = -1;  // feature numbers
    i64 at = -1;                                             // the byte where a line is at fault
    Fault fault = Fault::none;
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline std::uint64_t eight_bytes(const char* p) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
}

// Digits at the front of eight bytes: how many, and the number they write.
struct Digits {
    unsigned many;
    std::uint64_t value;
};

inline Digits leading_digits(std::uint64_t word) {
    word ^= 0x3030303030303030ull;
    // a carry out of a byte that is no digit only spoils those behind it
    const std::uint64_t odd = (word | (word + 0x0606060606060606ull)) & 0xF0F0F0F0F0F0F0F0ull;
    const unsigned bits = static_cast<unsigned>(std::countr_zero(odd)) & ~7u;
    if (bits == 0) return {0, 0};
    word <<= 64 - bits;  // leading zeros in front
    word = word * 10 + (word >> 8);
    const std::uint64_t value = (((word & 0x000000FF000000FFull) * 0x000F424000000064ull) +
                                 (((word >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull)) >>
                                32;
    return {bits / 8, value};
}

// Reads digits into `mantissa`; returns how many. More than 19 overflow it: the caller then starts anew.
inline int read_digits(const char*& p, const char* end, std::uint64_t& mantissa) {
    const char* from = p;
    while (p < end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    return static_cast<int>(p - from);
}

inline constexpr double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t TENS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// std::from_chars for an unsigned decimal, and its substitute for libc++, which had none for doubles before LLVM 20.
#if defined(__cpp_lib_to_chars)
inline std::from_chars_result decimal(const char* from, const char* end, double& value) {
    return std::from_chars(from, end, value);
}
#else
inline std::from_chars_result decimal(const char* from, const char* end, double& value) {
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    const std::string text(from, end);
    char* stop = nullptr;
    const double read = strtod_l(text.c_str(), &stop, plain);
    const bool out_of_range = std::isinf(read) || (read == 0 && text.find_first_of("123456789") < text.find_first_of("eE"));
    if (!out_of_range) value = read;
    return {from + (stop - text.c_str()), out_of_range ? std::errc::result_out_of_range : std::errc()};
}
#endif

// A decimal number at p, which moves behind it. Words (inf, nan), hexadecimals and lone signs are refused.
[[gnu::noinline]] inline bool read_any_number(const char*& p, const char* end, double& out) {
    const char* begin = p;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    const char* from = p;
    std::uint64_t mantissa = 0;
    int digits = read_digits(p, end, mantissa), shift = 0;
    if (p < end && *p == '.') {
        ++p;
        const int after = read_digits(p, end, mantissa);
        digits += after;
        shift = -after;
    }
    if (digits == 0) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char* mark = p++;
        const bool down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) ++p;
        int power = 0, count = 0;
        while (p < end && is_digit(*p)) {
            if (power < 100000) power = power * 10 + (*p - '0');
            ++p, ++count;
        }
        if (count == 0) {
            p = mark;
            return false;
        }
        shift += down ? -power : power;
    }
    if (digits <= 19 && mantissa <= (1ull << 53) && shift >= -22 && shift <= 22) {
        const double m = static_cast<double>(mantissa);
        const double value = shift < 0 ? m / POWERS[-shift] : m * POWERS[shift];
        out = negative ? -value : value;
        return true;
    }
    double value = 0;
    const auto [stop, error] = decimal(from, p, value);
    if (error == std::errc::result_out_of_range) {
        // from_chars leaves the value alone: beyond the largest double, or below the smallest
        while (from < p && (*from == '0' || *from == '.')) digits -= *from++ == '0';
        if (shift + digits > 0) {
            p = begin;
            return false;
        }
    } else if (error != std::errc() || stop != p) {
        p = begin;
        return false;
    }
    out = negative ? -value : value;
    return true;
}

// What was seen last time, as long as it is seen again: where to go on is then predicted and not waited for.
inline unsigned steady(unsigned seen, unsigned& last) {
    if (seen != last) {
        last = seen;
        asm("" : "+r"(last));  // otherwise the compiler sees that both branches return `seen`
    }
    return last;
}

// The same, with the usual spellings (up to 7 digits, a point, up to 15 more) read without a loop; `decimals` is
// what the number before had.
[[gnu::always_inline]] inline bool read_number(const char*& p, const char* end, double& out, unsigned& decimals) {
    const auto slowly = [&] {  // on a copy: a pointer whose address is passed on would live in memory
        const char* copy = p;
        const bool fine = read_any_number(copy, end, out);
        p = copy;
        return fine;
    };
    if (end - p < 32) return slowly();
    const bool negative = *p == '-';
    const char* q = p + (negative ? 1 : 0);
    const std::uint64_t first = static_cast<unsigned char>(*q);
    std::uint64_t mantissa = first - '0';
    unsigned before = 1, after = 0;  // digits on both sides of the point
    const auto more_decimals = [&]() __attribute__((always_inline)) {  // behind the first word of them
        const Digits more = leading_digits(eight_bytes(q));
        q += more.many;
        after += more.many;
        mantissa = mantissa * TENS[more.many] + more.value;
        return more.many < 8;
    };
    if (mantissa < 10 && q[1] == '.') {  // the digit takes the place of the point
        const Digits both = leading_digits((eight_bytes(q + 1) & ~0xFFull) | first);
        mantissa = both.value;
        after = steady(both.many - 1, decimals);
        q += 2 + after;
        if (after == 7 && !more_decimals()) return slowly();
    } else if (mantissa < 10 && !is_digit(q[1])) {
        ++q;
    } else {
        const Digits whole = leading_digits(eight_bytes(q));
        mantissa = whole.value;
        before = whole.many;
        q += before;
        if (*q == '.') {
            const Digits part = leading_digits(eight_bytes(++q));
            after = steady(part.many, decimals);
            q += after;
            mantissa = mantissa * TENS[after] + part.value;
            if (after == 8 && !more_decimals()) return slowly();
        }
    }
    // 7 and 15 digits may be more than 19, which overflow
    if (before + after == 0 || before == 8 || before + after > 18 || (*q | 32) == 'e' || mantissa > (1ull << 53))
        return slowly();
    const double value = static_cast<double>(mantissa) / POWERS[after];
    out = negative ? -value : value;
    p = q;
    return true;
}

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

inline i64 count_byte(const char* p, const char* end, char wanted) {
    i64 many = 0;
    while (p < end) {  // blocks whose counts fit a byte, so that they are added in bytes
        const char* stop = p + std::min<i64>(end - p, 64 * 255);
        unsigned char lanes[64] = {};
        for (; stop - p >= 64; p += 64)
            for (int j = 0; j < 64; ++j) lanes[j] = static_cast<unsigned char>(lanes[j] + (p[j] == wanted));
        for (int j = 0; j < 64; ++j) many += lanes[j];
        for (; p < stop; ++p) many += *p == wanted;
    }
    return many;
}

struct Room {
    i64 rows, entries;
};

// label [qid:number] index:value ... [# comment]; ends[i] counts the entries of all rows up to row i.
inline Parsed parse_svmlight(const char* p, i64 n, i64 base, Room room, i32* ends, i32* indices, double* values,
                             double* labels) {
    Parsed out;
    i64 k = 0, i = 0;
    unsigned decimals = 0;
    const char *q = p, *end = p + n;
    const auto fail = [&](const char* where, Fault fault) {
        out.at = where - p;
        out.fault = fault;
        return out;
    };
    while (q < end) {
        while (q < end && (is_blank(*q) || *q == '\n')) ++q;
        if (q == end) break;
        if (*q == '#') {
            while (q < end && *q != '\n') ++q;
            continue;
        }
        const char* start = q;
        if (i == room.rows) return fail(start, Fault::room);
        double label;
        if (!read_number(q, end, label, decimals) || (q < end && !is_blank(*q) && *q != '\n' && *q != '#'))
            return fail(start, Fault::label);
        i64 last = -1;
        const i64 before = k;
        for (;;) {
            if (end - q > 1 && *q == ' ' && q[1] > ' ')
                ++q;
            else
                while (q < end && is_blank(*q)) ++q;
            if (q == end || *q == '\n') break;
            const char* from = q;
            const Digits digits = end - q >= 8 ? leading_digits(eight_bytes(q)) : Digits{0, 0};
            i64 index = static_cast<i64>(digits.value);
            q += digits.many;
            if (digits.many == 0 || digits.many == 8)
                while (q < end && is_digit(*q) && q - from < 11) index = index * 10 + (*q++ - '0');
            if (q == from || q == end || *q != ':' || index > std::numeric_limits<i32>::max()) {
                q = from;
                if (*q == '#') {
                    while (q < end && *q != '\n') ++q;
                    break;
                }
                if (end - q > 4 && std::memcmp(q, "qid:", 4) == 0 && is_digit(q[4])) {
                    q += 4;
                    while (q < end && is_digit(*q)) ++q;
                    if (q < end && !is_blank(*q) && *q != '\n' && *q != '#') return fail(from, Fault::index);
                    continue;
                }
                return fail(from, Fault::index);
            }
            if (index <= last) return fail(from, Fault::order);
            if (k == room.entries) return fail(from, Fault::room);
            ++q;
            if (!read_number(q, end, values[k], decimals) || (q < end && !is_blank(*q) && *q != '\n' && *q != '#'))
                return fail(from, Fault::number);
            last = index;
            indices[k++] = static_cast<i32>(index - base);
        }
        if (k > before) {
            out.least = std::min<i64>(out.least, indices[before] + base);
            out.most = std::max<i64>(out.most, last);
        }
        labels[i] = label;
        ends[i++] = static_cast<i32>(k);
    }
    out.rows = i;
    out.entries = k;
    return out;
}

}  // namespace separatrix
