// What the pairs of a tile pay: products of the tensor cores become slopes, in registers.

// What a thread has added up of a tile, in each of its two rows; slopes that are
// too large are divided by `2^(head - HEAD)`.
struct Sums {
    float value, slope;
};

__device__ __forceinline__ float over_row(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

// The largest product in each row. A row's product with itself would dwarf the others.
template <bool MASKED>
__device__ __forceinline__ void largest_of(const float (&s)[32], u32 keep, bool on_diagonal, float (&most)[2]) {
    most[0] = most[1] = -3e38f;
#pragma unroll
    for (int e = 0; e < 32; e++) {
        const float x = MASKED && on_diagonal && !(keep >> e & 1) ? -3e38f : s[e];
        most[(e >> 1) & 1] = fmaxf(most[(e >> 1) & 1], x);
    }
}

// What slopes of a row are divided by, if these logarithms are the largest.
__device__ __forceinline__ void raise(float (&head)[2], float a, float b) {
    head[0] = fmaxf(head[0], ceilf(over_row(a)));
    head[1] = fmaxf(head[1], ceilf(over_row(b)));
}

#define LOG2E 1.4426950408889634

// The slope of a pair with product 0 is a power of two, times the polynomials where there
// are any. In double precision: what is off here is off in every pair.
__device__ __forceinline__ double base_of(const Pass &pass, const Item &item) {
    const double rate = SCORE == 0 ? pass.growth : fmin(1.0 + pass.beta, 2.0);
    return rate * LOG2E * item.shift + log2(item.scale);
}

#if SCORE == 0
// Turns products into slopes; e^{as}/a, continued linearly above the cap.
template <bool MASKED>
__device__ __forceinline__ void pay(float (&s)[32], const Pass &pass, float unstretch, float shift, float from,
                                    u32 keep, u32 watch, bool on_diagonal, float (&head)[2], Sums (&sums)[2],
                                    float &watched) {
    const float steep = pass.rate * unstretch, top = __fdividef(pass.limit - shift, unstretch);
    float most[2];
    largest_of<MASKED>(s, keep, on_diagonal, most);
    raise(head, fmaf(fminf(most[0], top), steep, from), fmaf(fminf(most[1], top), steep, from));
    float slope[2] = {0.f, 0.f}, value[2] = {0.f, 0.f}, beside[2] = {0.f, 0.f};
    const float base[2] = {from + (HEAD - head[0]), from + (HEAD - head[1])};
    if (!(fmaxf(most[0], most[1]) > top)) {
#pragma unroll
        for (int e = 0; e < 32; e++) {
            const int r = (e >> 1) & 1;
            float w = exp2_fast(fmaf(s[e], steep, base[r]));
            if (MASKED) {
                if (SPLIT) beside[r] += (watch >> e & 1) ? w : 0.f;
                w = (keep >> e & 1) ? w : 0.f;
            }
            slope[r] += w;
            s[e] = w;
        }
#pragma unroll
        for (int r = 0; r < 2; r++) value[r] = slope[r] * pass.inverse, beside[r] *= pass.inverse;
    } else {
#pragma unroll
        for (int e = 0; e < 32; e++) {
            const int r = (e >> 1) & 1;
            const float below = fminf(s[e], top);
            float w = exp2_fast(fmaf(below, steep, base[r]));
            float v = w * (pass.inverse + unstretch * (s[e] - below));
            if (MASKED) {
                if (SPLIT) beside[r] += (watch >> e & 1) ? v : 0.f;
                v = (keep >> e & 1) ? v : 0.f;
                w = (keep >> e & 1) ? w : 0.f;
            }
            slope[r] += w;
            value[r] += v;
            s[e] = w;
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float back = exp2_fast(head[r] - HEAD);
        sums[r].slope = slope[r] * back;
        sums[r].value = value[r] * back;
        watched += beside[r] * back;
    }
}
#else
// Turns products into slopes of the probability score: `e^{ks}` times polynomials of
// `e^{ps}`, which serve up to the steepest point of the score. Beyond it the score is
// continued linearly (SCORE 1) or read from its table (SCORE 2), and so is all of it
// where no polynomials of a few terms do (SERIES 0).
template <bool MASKED>
__device__ __forceinline__ void pay(float (&s)[32], const Pass &pass, float unstretch, float shift, float from,
                                    u32 keep, u32 watch, bool on_diagonal, float (&head)[2], Sums (&sums)[2],
                                    float &watched) {
    const float factor = unstretch * (float)LOG2E, base = shift * (float)LOG2E;
    const float steep = pass.rate * unstretch, top = __fdividef(pass.top - base, factor);
    float most[2];
    largest_of<MASKED>(s, keep, on_diagonal, most);
    raise(head, fmaf(fminf(most[0], top), steep, from), fmaf(fminf(most[1], top), steep, from));
    float total[2] = {0.f, 0.f}, paid[2] = {0.f, 0.f}, beside[2] = {0.f, 0.f};
#if SERIES
    const float slow = pass.slow * factor, slow_from = fmaf(pass.slow, base, pass.origin);
    const float fast_from[2] = {from + (HEAD - head[0]), from + (HEAD - head[1])};
    // The factor of the polynomials, which are left in `v` and `w`.
    auto polynomials = [&](float product, int r, float &v, float &w) {
        const float x = exp2_fast(fmaf(product, slow, slow_from)) - 1.f;
        v = pass.terms[0][SERIES - 1], w = pass.terms[1][SERIES - 1];
#pragma unroll
        for (int term = SERIES - 2; term >= 0; term--)
            v = fmaf(v, x, pass.terms[0][term]), w = fmaf(w, x, pass.terms[1][term]);
        return exp2_fast(fmaf(product, steep, fast_from[r]));
    };
    // Nearly always none of a warp's pairs is beyond the steepest point.
    if (!__any_sync(~0u, fmaxf(most[0], most[1]) > top)) {
#pragma unroll
        for (int e = 0; e < 32; e++) {
            const int r = (e >> 1) & 1;
            float v, w;
            const float by = polynomials(s[e], r, v, w);
            w *= by;
            if (MASKED) {
                v *= by;
                if (SPLIT) beside[r] += (watch >> e & 1) ? v : 0.f;
                paid[r] += (keep >> e & 1) ? v : 0.f;
                w = (keep >> e & 1) ? w : 0.f;
            } else {
                paid[r] = fmaf(v, by, paid[r]);
            }
            total[r] += w;
            s[e] = w;
        }
    } else
#endif
#pragma unroll
    for (int q = 0; q < 32; q += 4) {
        float value[4], slope[4];
#if SERIES
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const float low = fminf(s[q + e], top);
            float v, w;
            const float by = polynomials(low, e >> 1, v, w);
            slope[e] = w * by;
            value[e] = fmaf(v, by, unstretch * (s[q + e] - low) * slope[e]);
        }
#endif
#if SCORE == 2 || !SERIES
        const float largest = fmaxf(fmaxf(s[q], s[q + 1]), fmaxf(s[q + 2], s[q + 3]));
        if (!SERIES || __any_sync(~0u, largest > top)) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float at = fmaf(s[q + e], unstretch, shift), cap = pass.limit;
                const float by = exp2_fast(from - pass.rate * shift + (HEAD - head[e >> 1]));
                const Term<float> term = tabulated<float>(pass, fminf(at, cap));
                slope[e] = by * term.slope;
                value[e] = by * (at > cap ? fmaf(at - cap, term.slope, term.value) : term.value);
            }
        }
#endif
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int r = e >> 1;
            if (MASKED) {
                if (SPLIT) beside[r] += (watch >> (q + e) & 1) ? value[e] : 0.f;
                value[e] = (keep >> (q + e) & 1) ? value[e] : 0.f;
                slope[e] = (keep >> (q + e) & 1) ? slope[e] : 0.f;
            }
            total[r] += slope[e];
            paid[r] += value[e];
            s[q + e] = slope[e];
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float back = exp2_fast(head[r] - HEAD);
        sums[r].slope = total[r] * back;
        sums[r].value = paid[r] * back;
        watched += beside[r] * back;
    }
}
#endif
