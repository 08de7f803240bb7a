/* SPDX-License-Identifier: MIT */
#include "analysis/diff/statistics.h"

#include <float.h>
#include <math.h>

/* ---- distributions ----------------------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    enum { MAX_STEPS = 1000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int step = 1; step <= MAX_STEPS; step++) {
        const double m = step;
        const double factors[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                   -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        double change = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + factors[i] * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + factors[i] / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            value *= change;
        }
        if (fabs(change - 1) < 4 * DBL_EPSILON)
            break;
    }
    return value;
}

/* The logarithm of the beta function B(a, 1/2); lgamma would write a global variable. */
static double log_gamma(double x)
{
    double shift = 0;
    for (; x < 15; x++)
        shift += log(x);
    const double y = 1 / (x * x);
    return (x - 0.5) * log(x) - x + 0.91893853320467274178 +
           (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x - shift;
}

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    const double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double pf_t_two_sided(double t, double df)
{
    if (isnan(t))
        return 1;
    if (isinf(t))
        return 0;
    if (isinf(df))
        return erfc(fabs(t) / sqrt(2));
    return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double pf_t_upper(double t, double df)
{
    const double half = pf_t_two_sided(t, df) / 2;
    return t < 0 ? 1 - half : half;
}

static double density(double t, double df)
{
    const double pi = 3.14159265358979323846;
    if (isinf(df))
        return exp(-t * t / 2) / sqrt(2 * pi);
    return exp(log_gamma((df + 1) / 2) - log_gamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * pi);
}

/* Of the normal distribution: those that every row needs, and others roughly. */
static double normal_quantile(double p)
{
    static const double known[][2] = {
        {0.975, 1.959963984540054}, {0.95, 1.6448536269514722}, {0.8, 0.8416212335729143}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (p == known[i][0])
            return known[i][1];
    return sqrt(-log(4 * p * (1 - p)) * 1.57);
}

/* Newton's method, from the first terms of the expansion around the normal distribution, kept between bounds. */
double pf_t_quantile(double p, double df)
{
    enum { MAX_STEPS = 100 };
    const double z = normal_quantile(p), z2 = z * z;
    double low = 0, high = INFINITY, t = z;
    if (df > 1e8)
        df = INFINITY;
    if (!isinf(df))
        t += z * (z2 + 1) / (4 * df) + z * ((5 * z2 + 16) * z2 + 3) / (96 * df * df);
    for (int step = 0; step < MAX_STEPS; step++) {
        const double excess = pf_t_upper(t, df) - (1 - p);
        *(excess > 0 ? &low : &high) = t;
        double next = t + excess / density(t, df);
        if (!(next > low && next < high))
            next = isinf(high) ? 2 * t : low + (high - low) / 2;
        if (fabs(next - t) <= 1e-13 * t)
            break;
        t = next;
    }
    return t;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static double mean_of(const struct pf_observations *side)
{
    double sum = 0;
    for (size_t i = 0; i < side->count; i++)
        sum += side->weights[i];
    return side->count ? sum / (double)side->count : 0;
}

/* What is left of the variance of counting when samples come on a grid is 0.3 to 1.2 of Poisson's. */
static double variance_of(const struct pf_observations *side, double mean, double unit)
{
    const double min = 0.25 * unit * fmax(mean, unit / 2);
    double sum = 0;
    if (side->count < 2)
        return min;
    for (size_t i = 0; i < side->count; i++)
        sum += (side->weights[i] - mean) * (side->weights[i] - mean);
    return fmax(sum / (double)(side->count - 1), min);
}

static void compare_several(const struct pf_comparison *c, struct pf_difference *d)
{
    const double n = (double)c->before.count, m = (double)c->after.count;
    const double a = variance_of(&c->before, d->before, c->unit) / n;
    const double b = variance_of(&c->after, d->after, c->unit) / m;
    d->error = sqrt(a + b);
    d->df = (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1));
}

/*
 * The distance of one more observation from the mean of the others has the variance of an observation and of that mean.
 */
static void compare_one(const struct pf_observations *several, double mean, double unit, struct pf_difference *d)
{
    const double k = (double)several->count;
    d->error = sqrt(variance_of(several, mean, unit) * (1 + 1 / k));
    d->df = k - 1;
}

static void compare_counts(const struct pf_comparison *c, struct pf_difference *d)
{
    const double n = (double)c->before.count, m = (double)c->after.count;
    const double counting = c->before.samples / (n * n) + c->after.samples / (m * m) + 1;
    const double noise = c->noise * c->noise * (d->before * d->before / n + d->after * d->after / m);
    d->error = sqrt(c->unit * c->unit * counting + noise);
    d->df = INFINITY;
    d->sampling_only = c->noise <= 0;
}

void pf_compare(const struct pf_comparison *c, struct pf_difference *d)
{
    *d = (struct pf_difference){.before = mean_of(&c->before), .after = mean_of(&c->after)};
    d->difference = d->after - d->before;
    if (c->before.count > 1 && c->after.count > 1)
        compare_several(c, d);
    else if (c->before.count > 2)
        compare_one(&c->before, d->before, c->unit, d);
    else if (c->after.count > 2)
        compare_one(&c->after, d->after, c->unit, d);
    else
        compare_counts(c, d);
    const double t = d->error > 0 ? d->difference / d->error : d->difference == 0 ? 0 : INFINITY;
    const double outer = pf_t_quantile(0.975, d->df), inner = pf_t_quantile(0.95, d->df);
    d->p = pf_t_two_sided(t, d->df);
    d->low = d->difference - outer * d->error;
    d->high = d->difference + outer * d->error;
    d->inner_low = d->difference - inner * d->error;
    d->inner_high = d->difference + inner * d->error;
    d->detectable = (outer + pf_t_quantile(0.8, d->df)) * d->error;
}

double pf_compare_above(const struct pf_difference *d, double limit)
{
    const double beyond = d->difference - limit;
    return pf_t_upper(d->error > 0 ? beyond / d->error : beyond > 0 ? INFINITY : -INFINITY, d->df);
}

void pf_mean_interval(const struct pf_observations *side, double unit, double *low, double *high)
{
    const double n = (double)side->count, mean = mean_of(side);
    const double error = side->count > 1 ? sqrt(variance_of(side, mean, unit) / n) : unit * sqrt(side->samples + 0.5);
    const double width = error * pf_t_quantile(0.975, side->count > 1 ? n - 1 : INFINITY);
    *low = mean - width;
    *high = mean + width;
}

/* ---- many of them ------------------------------------------------------------------------------------------------ */

static void sink(size_t *order, const double *p, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && p[order[child + 1]] > p[order[child]])
            child++;
        if (p[order[at]] >= p[order[child]])
            return;
        const size_t other = order[at];
        order[at] = order[child];
        order[child] = other;
    }
}

static void sort(size_t *order, const double *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count / 2; i-- > 0;)
        sink(order, p, i, count);
    for (size_t left = count; left > 1;) {
        const size_t last = order[--left];
        order[left] = order[0];
        order[0] = last;
        sink(order, p, 0, left);
    }
}

void pf_adjust(double *p, size_t *order, size_t count)
{
    double min = 1;
    sort(order, p, count);
    for (size_t i = count; i-- > 0;) {
        const double q = p[order[i]] * (double)count / (double)(i + 1);
        min = q < min ? q : min;
        p[order[i]] = min;
    }
}
