// One cell of a table as a number or a moment: the only place where text becomes a number with marks, units or dates.
//
// A number is a sign, digits, one decimal mark, groups of three, an exponent, and one unit before or behind. Which marks
// a column uses is its form, a row of FORMS; the unit is text. A moment is read by a format of fields (%Y %m %d …), with
// a time of day and a zone behind it where the format names none.
#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "separatrix/text.hpp"

namespace separatrix {

using Text = std::string_view;
inline constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

// Decimal mark and thousands separator (0: none); those without a separator come first of their mark.
struct NumberForm {
    char decimal, group;
};
inline constexpr NumberForm FORMS[] = {{'.', 0},   {'.', ','}, {'.', ' '}, {'.', '\''},
                                       {',', 0},   {',', '.'}, {',', ' '}, {',', '\''}};
inline constexpr std::size_t LONGEST_NUMBER = 60, LONGEST_UNIT = 3;

inline bool is_blank_byte(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

inline Text trimmed(Text cell) {
    while (!cell.empty() && is_blank_byte(cell.front())) cell.remove_prefix(1);
    while (!cell.empty() && is_blank_byte(cell.back())) cell.remove_suffix(1);
    return cell;
}

// Spaces that do not break, minus signs and apostrophes of typesetters become those of keyboards.
inline std::string tidy(Text cell) {
    static constexpr struct {
        const char* odd;
        char plain;
    } SIGNS[] = {{"\xc2\xa0", ' '}, {"\xe2\x80\xaf", ' '}, {"\xe2\x80\x89", ' '}, {"\xe2\x88\x92", '-'},
                 {"\xe2\x80\x99", '\''}};
    std::string out;
    out.reserve(cell.size());
    while (!cell.empty()) {
        bool found = false;
        if (static_cast<unsigned char>(cell[0]) >= 0x80)
            for (const auto& own : SIGNS)
                if (cell.starts_with(own.odd)) {
                    out += own.plain;
                    cell.remove_prefix(Text(own.odd).size());
                    found = true;
                    break;
                }
        if (!found) {
            out += cell[0];
            cell.remove_prefix(1);
        }
    }
    const Text ends = trimmed(out);
    return std::string(ends);
}

// The parts of a cell that looks like a number.
struct Parts {
    bool fine = false, negative = false, zero = true;
    Text unit, body, exponent;
};

inline std::size_t letters_of(Text text) {
    std::size_t many = 0;
    for (char c : text) many += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return many;
}

// sign? unit? space? sign? body exponent? space? unit, with one sign and one unit at most; `text` is tidy.
inline Parts parts_of(Text text) {
    Parts out;
    if (letters_of(text) > LONGEST_NUMBER) return out;
    const auto in_body = [](char c) { return is_digit(c) || c == '.' || c == ',' || c == ' ' || c == '\''; };
    std::size_t i = 0;
    bool sign = false;
    const auto read_sign = [&] {
        if (i < text.size() && (text[i] == '+' || text[i] == '-')) {
            if (sign) return false;
            out.negative = text[i++] == '-';
            sign = true;
        }
        return true;
    };
    const auto read_unit = [&](Text& unit) {
        const std::size_t from = i;
        while (i < text.size() && !in_body(text[i]) && text[i] != '+' && text[i] != '-') ++i;
        unit = text.substr(from, i - from);
        return letters_of(unit) <= LONGEST_UNIT;
    };
    Text before, behind;
    if (!read_sign() || !read_unit(before)) return out;
    if (!before.empty() && i < text.size() && text[i] == ' ') ++i;
    if (!read_sign()) return out;
    const std::size_t from = i;
    while (i < text.size() && in_body(text[i])) ++i;
    std::size_t to = i;
    while (to > from && text[to - 1] == ' ') --to;
    out.body = text.substr(from, to - from);
    if (to - from + 1 < i - from) return out;  // two spaces
    bool digits = false;
    for (char c : out.body) digits |= is_digit(c), out.zero &= !is_digit(c) || c == '0';
    if (!digits || out.body.front() == ' ' || out.body.front() == '\'') return out;
    if (to == i && i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        std::size_t at = i + 1;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        const std::size_t power = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        if (at > power) {
            out.exponent = text.substr(i, at - i);
            i = at;
            if (i < text.size() && text[i] == ' ') ++i;
        }
    }
    if (!read_unit(behind) || i < text.size() || (!before.empty() && !behind.empty())) return out;
    out.unit = before.empty() ? behind : before;
    out.fine = true;
    return out;
}

// The body by one form: whether it can be read so; `plain` gets its digits with a point.
inline bool read_body(const Parts& parts, NumberForm form, std::string& plain) {
    plain.clear();
    const Text body = parts.body;
    std::size_t mark = body.find(form.decimal);
    const Text whole = body.substr(0, mark), rest = mark == Text::npos ? Text() : body.substr(mark + 1);
    for (char c : rest)
        if (!is_digit(c)) return false;
    if (form.group && whole.find(form.group) != Text::npos) {
        if (!parts.exponent.empty() || whole.front() == '0') return false;
        std::size_t run = 0;
        bool first = true;
        for (char c : whole) {
            if (is_digit(c)) {
                plain += c, ++run;
            } else {
                if (c != form.group || run == 0 || run > 3 || (!first && run != 3)) return false;
                run = 0, first = false;
            }
        }
        if (run != 3) return false;
    } else {
        for (char c : whole)
            if (!is_digit(c)) return false;
        plain += whole;
    }
    if (whole.empty() && rest.empty()) return false;
    if (mark != Text::npos) (plain += '.') += rest;
    return true;
}

inline double number_of(const Parts& parts, const std::string& plain) {
    std::string text = parts.negative ? "-" + plain : plain;
    text += parts.exponent;
    const char *p = text.data(), *end = p + text.size();
    double value = 0;
    if (read_any_number(p, end, value) && p == end) return value;
    return parts.negative ? -HUGE_VAL : HUGE_VAL;  // beyond the largest double
}

// A number in one form and unit: whether the cell is one. A column of per cents has the sign in every cell but zeros.
inline bool written_number(Text cell, NumberForm form, Text unit, double& out) {
    const std::string text = tidy(cell);
    const Parts parts = parts_of(text);
    std::string plain;
    if (!parts.fine || !(parts.unit.empty() || parts.unit == unit) || !read_body(parts, form, plain)) return false;
    if (unit == "%" && parts.unit.empty() && !parts.zero) return false;
    out = number_of(parts, plain);
    return true;
}

// inf, infinity and their signs, in any case.
inline bool is_infinite(Text cell, double& out) {
    const bool negative = !cell.empty() && cell[0] == '-';
    if (!cell.empty() && (cell[0] == '-' || cell[0] == '+')) cell.remove_prefix(1);
    if (cell.size() != 3 && cell.size() != 8) return false;
    for (std::size_t i = 0; i < cell.size(); ++i)
        if ((cell[i] | 32) != "infinity"[i]) return false;
    out = negative ? -HUGE_VAL : HUGE_VAL;
    return true;
}

// -- moments ---------------------------------------------------------------------------------------------

// Seconds since 1970, after Howard Hinnant's days_from_civil.
inline double day_number(int year, int month, int day) {
    const int y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400;
    const int of_era = y - era * 400, of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097.0 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

inline int days_of(int year, int month) {
    constexpr int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : DAYS[month - 1];
}

struct Scan {
    Text rest;

    // At most `most` digits, at least `least`.
    bool digits(int least, int most, int& out) {
        int many = 0;
        out = 0;
        while (many < most && !rest.empty() && is_digit(rest[0])) {
            out = out * 10 + (rest[0] - '0');
            rest.remove_prefix(1);
            ++many;
        }
        return many >= least;
    }
    bool letter(char c) {
        if (rest.empty() || rest[0] != c) return false;
        rest.remove_prefix(1);
        return true;
    }
    // One of some names, by its first three letters or whole, in any case; its number.
    bool name(const char* const* names, int many, int& out) {
        std::size_t n = 0;
        while (n < rest.size() && ((rest[n] | 32) >= 'a' && (rest[n] | 32) <= 'z')) ++n;
        for (int k = 0; k < many && n >= 3; ++k) {
            const Text whole = names[k];
            bool same = n == 3 || n == whole.size() || (n == 4 && whole == "september");
            for (std::size_t i = 0; i < n && same; ++i) same = i < whole.size() && (rest[i] | 32) == whole[i];
            if (same) {
                rest.remove_prefix(n);
                if (n < whole.size() && !rest.empty() && rest[0] == '.') rest.remove_prefix(1);
                out = k;
                return true;
            }
        }
        return false;
    }
};

inline constexpr const char* MONTHS[] = {"january", "february", "march",     "april",   "may",      "june",
                                         "july",    "august",   "september", "october", "november", "december"};
inline constexpr const char* WEEKDAYS[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

// The fields of a moment while it is read.
struct Clock {
    int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, half = -1;  // half: 0 before noon, 1 after it
    double fraction = 0, zone = 0;

    bool fraction_of(Scan& in) {
        const std::size_t before = in.rest.size();
        int digits = 0;
        if (!in.digits(1, 9, digits)) return false;
        fraction = digits / POWERS[before - in.rest.size()];
        for (int more = 0; in.digits(1, 9, more);) continue;  // beyond a billionth
        return true;
    }
    bool zone_of(Scan& in) {
        if (in.letter('Z')) return true;
        if (in.rest.starts_with("UTC") || in.rest.starts_with("GMT")) {
            in.rest.remove_prefix(3);
            return true;
        }
        if (in.rest.empty() || (in.rest[0] != '+' && in.rest[0] != '-')) return false;
        const double sign = in.rest[0] == '-' ? -1 : 1;
        in.rest.remove_prefix(1);
        int hours = 0, minutes = 0;
        if (!in.digits(2, 2, hours)) return false;
        in.letter(':');
        if (!in.rest.empty() && !in.digits(2, 2, minutes)) return false;
        zone = sign * (3600.0 * hours + 60.0 * minutes);
        return true;
    }
    bool half_of(Scan& in) {
        if (in.rest.size() < 2 || (in.rest[1] | 32) != 'm' || ((in.rest[0] | 32) != 'a' && (in.rest[0] | 32) != 'p'))
            return false;
        half = (in.rest[0] | 32) == 'p';
        in.rest.remove_prefix(2);
        return true;
    }
    // What may stand behind a date: nothing, or a time of day with or without a zone.
    bool time_of(Scan& in) {
        if (in.letter('T') || in.letter(' ')) {
            if (!in.digits(1, 2, hour) || !in.letter(':') || !in.digits(2, 2, minute)) return false;
            if (in.letter(':') && !in.digits(2, 2, second)) return false;
            if (in.letter('.') && !fraction_of(in)) return false;
            const Scan here = in;
            in.letter(' ');
            if (!half_of(in)) in = here;
        }
        const Scan here = in;
        in.letter(' ');
        if (!zone_of(in)) in = here;
        return true;
    }
    bool seconds(double& out) const {
        int own = hour;
        if (half >= 0) {
            if (hour < 1 || hour > 12) return false;
            own = hour % 12 + 12 * half;
        }
        if (month < 1 || month > 12 || year < 1 || year > 9999 || day < 1 || day > days_of(year, month)) return false;
        if (own > 23 || minute > 59 || second > 59) return false;
        out = 86400.0 * day_number(year, month, day) + 3600.0 * own + 60.0 * minute + second + fraction - zone;
        return true;
    }
};

// A moment by a format; a format without %H or %I takes a time of day behind the date as well.
inline bool moment(Text cell, Text format, double& out) {
    Scan in{trimmed(cell)};
    Clock clock;
    bool timed = false;
    int number = 0;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%' || i + 1 == format.size()) {
            if (!in.letter(format[i])) return false;
            continue;
        }
        bool fine = false;
        switch (format[++i]) {
            case 'Y': fine = in.digits(4, 4, clock.year); break;
            case 'y':
                fine = in.digits(2, 2, number);
                clock.year = number + (number < 69 ? 2000 : 1900);
                break;
            case 'm': fine = in.digits(1, 2, clock.month); break;
            case 'd': fine = in.digits(1, 2, clock.day); break;
            case 'b':
                fine = in.name(MONTHS, 12, number);
                clock.month = number + 1;
                break;
            case 'a': fine = in.name(WEEKDAYS, 7, number); break;
            case 'H': case 'I': fine = timed = in.digits(1, 2, clock.hour); break;
            case 'M': fine = in.digits(2, 2, clock.minute); break;
            case 'S': fine = in.digits(2, 2, clock.second); break;
            case 'f': fine = clock.fraction_of(in); break;
            case 'p': fine = clock.half_of(in); break;
            case 'z': fine = clock.zone_of(in); break;
            case '%': fine = in.letter('%'); break;
            default: return false;
        }
        if (!fine) return false;
    }
    if (!timed && !clock.time_of(in)) return false;
    return in.rest.empty() && clock.seconds(out);
}

}  // namespace separatrix
