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

// The largest product in each row, and the least of all. A row's product with itself
// would dwarf the others.
template <bool MASKED>
__device__ __forceinline__ void extremes(const float (&s)[32], u32 keep, bool on_diagonal, float (&most)[2],
                                         float &least) {
    most[0] = most[1] = -3e38f;
    least = s[0];
#pragma unroll
    for (int e = 0; e < 32; e++) {
        const float x = MASKED && on_diagonal && !(keep >> e & 1) ? -3e38f : s[e];
        most[(e >> 1) & 1] = fmaxf(most[(e >> 1) & 1], x);
        least = fminf(least, s[e]);
    }
}

// What slopes of a row are divided by, if these logarithms are the largest.
__device__ __forceinline__ void raise(float (&head)[2], float a, float b) {
    head[0] = fmaxf(head[0], ceilf(over_row(a)));
    head[1] = fmaxf(head[1], ceilf(over_row(b)));
}

#define LOG2E 1.4426950408889634f

#if SCORE == 0
// Turns products into slopes; e^{as}/a, continued linearly above the cap.
template <bool MASKED>
__device__ __forceinline__ void pay(float (&s)[32], const Pass &pass, float unstretch, float shift,
                                    float scale_log, u32 keep, u32 watch, bool on_diagonal, float (&head)[2],
                                    Sums (&sums)[2], float &watched) {
    const float growth = (float)pass.growth, cap = (float)pass.cap, inverse = 1.f / growth;
    float most[2], least;
    extremes<MASKED>(s, keep, on_diagonal, most, least);
    const bool beyond = fmaxf(most[0], most[1]) * unstretch + shift > cap;
    const float factor = growth * LOG2E;
#pragma unroll
    for (int r = 0; r < 2; r++)
        most[r] = fminf(most[r] * unstretch + shift, cap) * factor + scale_log;
    raise(head, most[0], most[1]);
    float slope[2] = {0.f, 0.f}, value[2] = {0.f, 0.f}, beside[2] = {0.f, 0.f};
    if (!beyond) {
        const float steep = factor * unstretch;
        const float base[2] = {factor * shift + scale_log + (HEAD - head[0]),
                               factor * shift + scale_log + (HEAD - head[1])};
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
        for (int r = 0; r < 2; r++) value[r] = slope[r] * inverse, beside[r] *= inverse;
    } else {
#pragma unroll
        for (int e = 0; e < 32; e++) {
            const int r = (e >> 1) & 1;
            const float at = fmaf(s[e], unstretch, shift), below = fminf(at, cap);
            float w = exp2_fast(fmaf(below, factor, scale_log + (HEAD - head[r])));
            float v = w * (inverse + (at - below));
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
// What a pair pays that is expected to weigh little, with `mu = e^s`, `z = mu^c` and
// `c = 1 + beta`; `t` is the similarity in binary logarithms:
//
//     value = mu^2 d(mu) + z e^{-c mu} f(z)/c
//     slope = mu^2 e(mu) + z e^{-c mu} (g(z) - mu f(z))
__device__ __forceinline__ Term<float> pays_little(const Pass &pass, float t, float c, float inverse) {
    const float mu = exp2_fast(t), z = exp2_fast(c * t), fall = exp2_fast(-LOG2E * c * mu);
    float d = pass.low[0][5], e = pass.low[1][5], f = pass.low[2][5], g = pass.low[3][5];
#pragma unroll
    for (int term = 4; term >= 0; term--) {
        d = fmaf(d, mu, pass.low[0][term]), e = fmaf(e, mu, pass.low[1][term]);
        f = fmaf(f, z, pass.low[2][term]), g = fmaf(g, z, pass.low[3][term]);
    }
    const float square = mu * mu, own = z * fall, with = own * f;
    return {fmaf(square, d, with * inverse), fmaf(-mu, with, fmaf(square, e, own * g))};
}

// What a pair pays that is expected to weigh more: `e^{ks}` times polynomials of `s`.
__device__ __forceinline__ Term<float> pays_much(const Pass &pass, float t, float k) {
    const float u = fmaf(t, pass.high_steep, pass.high_origin), fast = exp2_fast(k * t);
    float v = pass.high[0][11], w = pass.high[1][11];
#pragma unroll
    for (int term = 10; term >= 0; term--) v = fmaf(v, u, pass.high[0][term]), w = fmaf(w, u, pass.high[1][term]);
    return {v * fast, w * fast};
}

// Turns products into slopes of the probability score, four of a thread at a time: by
// few terms where none of the warp's is expected to weigh much, else, up to the cap, by
// more (SCORE 1), or without a cap by the table (SCORE 2).
template <bool MASKED>
__device__ __forceinline__ void pay(float (&s)[32], const Pass &pass, float unstretch, float shift,
                                    float scale_log, u32 keep, u32 watch, bool on_diagonal, float (&head)[2],
                                    Sums (&sums)[2], float &watched) {
    const float c = 1.f + (float)pass.beta, inverse = 1.f / c, cap = (float)pass.cap * LOG2E;
    const float factor = unstretch * LOG2E, base = shift * LOG2E;
    float most[2], least;
    extremes<MASKED>(s, keep, on_diagonal, most, least);
#pragma unroll
    for (int r = 0; r < 2; r++) most[r] = fminf(fmaf(most[r], factor, base), cap) * fminf(c, 2.f) + scale_log;
    raise(head, most[0], most[1]);
    const float by[2] = {exp2_fast(scale_log + (HEAD - head[0])), exp2_fast(scale_log + (HEAD - head[1]))};
    float total[2] = {0.f, 0.f}, paid[2] = {0.f, 0.f}, beside[2] = {0.f, 0.f};
#pragma unroll
    for (int q = 0; q < 32; q += 4) {
        float t[4], value[4], slope[4], top = -3e38f;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            t[e] = fmaf(s[q + e], factor, base);
            top = fmaxf(top, t[e]);
        }
        if (!__any_sync(~0u, top > pass.low_top)) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const Term<float> term = pays_little(pass, t[e], c, inverse);
                value[e] = term.value, slope[e] = term.slope;
            }
        } else {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float at = fminf(t[e], cap);
#if SCORE == 1
                const Term<float> little = pays_little(pass, fminf(at, pass.low_top), c, inverse);
                const Term<float> much = pays_much(pass, fmaxf(at, pass.low_top), fminf(c, 2.f));
                const Term<float> term = at > pass.low_top ? much : little;
#else
                const Term<float> term = tabulated<float>(pass, at * 0.6931471805599453f);
#endif
                slope[e] = term.slope;
                value[e] = t[e] > cap ? fmaf(0.6931471805599453f * (t[e] - cap), term.slope, term.value) : term.value;
            }
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int r = e >> 1;
            float w = slope[e] * by[r], v = value[e];
            if (MASKED) {
                if (SPLIT) beside[r] += (watch >> (q + e) & 1) ? v : 0.f;
                v = (keep >> (q + e) & 1) ? v : 0.f;
                w = (keep >> (q + e) & 1) ? w : 0.f;
            }
            total[r] += w;
            paid[r] += v;
            s[q + e] = w;
        }
    }
    const float scale = exp2_fast(scale_log);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        sums[r].slope = total[r] * exp2_fast(head[r] - HEAD);
        sums[r].value = paid[r] * scale;
        watched += beside[r] * scale;
    }
}
#endif
