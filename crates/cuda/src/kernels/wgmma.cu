// Value and gradient over all pairs on the tensor cores of Hopper cards.
//
// A block of threads has 128 rows: two groups of 128 threads, 64 rows each. All
// rows that they meet pass by in tiles of 64, brought in by bulk copies that one
// more warp issues. A group multiplies its rows with a tile, turns the products
// into slopes in registers, and multiplies these with the tile again. While a
// group computes slopes, the tensor cores work on its last tile and for the other
// group. Each row meets all others, so every gradient has one owner, no sum
// depends on the order of blocks, and nothing is added up by atomics.
//
// Numbers are half floats, which have as many digits as tf32 and are multiplied
// twice as fast; powers of two keep them in range: one for all rows, and one for
// the slopes of each row, which follows the largest seen so far. TERMS 1: one half
// float for each number. TERMS 3: each number as the sum of two, and the three
// larger of their four products, which is as exact as single precision.
//
// SPLIT 0: all pairs; 1: which pairs is read from memory; 2: it is computed.

#define TILE 64
#define OWN 128
#define PARTS (TERMS == 3 ? 2 : 1)
#define PART_BYTES (TILE * KP * 2)
#define TILE_BYTES (PART_BYTES * PARTS)
#define STEPS1 (KP / 16)
#define STEPS2 (TILE / 16)
// Slopes of a row are at most about this power of two.
#define HEAD 12.f

__device__ __forceinline__ u32 shared_address(const void *p) {
    return (u32)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void barrier_init(u32 bar, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
}
__device__ __forceinline__ void barrier_expect(u32 bar, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(u32 bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ __forceinline__ void barrier_wait(u32 bar, u32 parity) {
    asm volatile("{\n.reg .pred p;\nL1:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra L2;\nbra L1;\nL2:\n}" ::"r"(bar), "r"(parity) : "memory");
}
__device__ __forceinline__ void bulk_copy(u32 to, const void *from, u32 bytes, u32 bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
}
__device__ __forceinline__ void mma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT> __device__ __forceinline__ void mma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}
// A matrix in shared memory, in rows of 128 bytes whose 16-byte pieces are swizzled.
__device__ __forceinline__ u64 matrix(u32 address, u32 leading) {
    return (u64)((address & 0x3FFFF) >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(1024 >> 4) << 32) | (1ull << 62);
}
__device__ __forceinline__ u32 halves(float low, float high) {
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
// What two halves leave of two numbers.
__device__ __forceinline__ u32 rest(float low, float high, u32 of) {
    float x, y;
    asm("{\n.reg .b16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}"
        : "=f"(x), "=f"(y) : "r"(of));
    return halves(low - x, high - y);
}
__device__ __forceinline__ float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Which of a thread's pairs of a tile a rule names: bit 4q + c is the pair of row
// `c/2` of the thread and column `8q + c%2` of the tile from `column0` on.
__device__ __forceinline__ u32 named_pairs(const Pass &pass, const Rule &rule, const u32 *second, u32 flag,
                                           int row0, int column0) {
    u32 bits = 0;
    if (rule.kind == 0) return 0;
    if (rule.kind == 2) {
        if (pass.named[row0] & flag) bits |= 0x33333333u;
        if (pass.named[row0 + 8] & flag) bits |= 0xccccccccu;
#pragma unroll
        for (int q = 0; q < TILE / 8; q++)
#pragma unroll
            for (int c = 0; c < 2; c++)
                if (pass.named[column0 + 8 * q + c] & flag) bits |= 5u << (4 * q + c);
        return bits;
    }
    // Rows are in the order of nodes, and a tile of columns is before a warp's
    // rows, after them, or among them.
    const int before = column0 / TILE - row0 / TILE;
    const u32 *rows = before > 0 ? pass.hash_first : second;
    const u32 *columns = before > 0 ? second : pass.hash_first;
    const u32 own[2] = {rows[row0], rows[row0 + 8]};
#pragma unroll
    for (int q = 0; q < TILE / 8; q++) {
        const uint2 other = *(const uint2 *)(columns + column0 + 8 * q);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            u32 x = own[c >> 1] ^ (c & 1 ? other.y : other.x);
            if (before == 0) {
                const int column = column0 + 8 * q + (c & 1), row = row0 + 8 * (c >> 1);
                x = pass.hash_first[min(row, column)] ^ second[max(row, column)];
            }
            if (mix(x) - rule.from < rule.width) bits |= 1u << (4 * q + c);
        }
    }
    return bits;
}

// The pairs of a thread that take part and those that are watched.
__device__ __forceinline__ void pairs_of(const Pass &pass, const Item &item, int row0, int column0, u32 &keep,
                                         u32 &watch) {
    const int tile = column0 / TILE;
    keep = ~0u;
    if ((tile >> 1) == item.tile || tile * TILE + TILE > item.end) {
#pragma unroll
        for (int e = 0; e < 32; e++) {
            const int column = column0 + 8 * (e >> 2) + (e & 1), row = row0 + 8 * ((e >> 1) & 1);
            if (column == row || column >= item.end) keep &= ~(1u << e);
        }
    }
    if (row0 >= item.valid) keep &= 0xccccccccu;
    if (row0 + 8 >= item.valid) keep &= 0x33333333u;
    const u32 fold = named_pairs(pass, pass.fold, pass.hash_fold, 1, row0, column0);
    const u32 stop = named_pairs(pass, pass.stop, pass.hash_stop, 2, row0, column0) & ~fold;
    watch = stop & keep;
    keep &= pass.part == 0 ? ~(fold | stop) : pass.part == 1 ? stop : fold;
}

// Writes down which pairs of a tile take part and are watched.
extern "C" __global__ void __launch_bounds__(256) masks(const __grid_constant__ Pass pass) {
    const Item item = pass.items[blockIdx.x];
    const int lane = threadIdx.x & 31, row0 = item.tile * OWN + (threadIdx.x >> 5) * 16 + (lane >> 2);
    const size_t own = item.tile * 2 + (threadIdx.x >> 7);
    for (int tile = item.from + blockIdx.y; tile < item.to; tile += gridDim.y) {
        u32 keep, watch;
        pairs_of(pass, item, row0, tile * TILE + 2 * (lane & 3), keep, watch);
        const size_t place = (own * (pass.rows / TILE) + tile) * 128 + (threadIdx.x & 127);
        pass.keep[place] = keep;
        pass.watch[place] = watch;
    }
}

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

extern "C" __global__ void __launch_bounds__(384, 1) pairs(const __grid_constant__ Pass pass) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ __align__(8) u64 full[STAGES], empty[STAGES];
    const u32 base = (shared_address(memory) + 1023) & ~1023u;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const Item item = pass.items[blockIdx.x];
    const int n_tiles = item.to - item.from;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(shared_address(&full[stage]), 1);
            barrier_init(shared_address(&empty[stage]), 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    if (warp >= 8) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x != 256) return;
        const unsigned char *from = (const unsigned char *)pass.right + (size_t)item.from * TILE_BYTES;
        for (int t = 0; t < n_tiles; t++, from += TILE_BYTES) {
            const int stage = t % STAGES;
            barrier_wait(shared_address(&empty[stage]), (t / STAGES & 1) ^ 1);
            barrier_expect(shared_address(&full[stage]), TILE_BYTES);
            bulk_copy(base + stage * TILE_BYTES, from, TILE_BYTES, shared_address(&full[stage]));
        }
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const int group = warp >> 2;
    const int row0 = item.tile * OWN + group * 64 + (warp & 3) * 16 + (lane >> 2);
    const int tid = threadIdx.x & 127;
    const float shift = (float)item.shift, scale_log = log2f((float)item.scale);
    const float stretch = *pass.stretch, unstretch = 1.f / (stretch * stretch);

    // The rows' own numbers, as the left operand of a product.
    u32 own[STEPS1][4 * PARTS];
    {
        const float *a0 = (const float *)pass.left + (size_t)row0 * KP, *a1 = a0 + 8 * KP;
#pragma unroll
        for (int k = 0; k < STEPS1; k++) {
            const int c = k * 16 + 2 * (lane & 3);
            const float2 x[4] = {*(const float2 *)(a0 + c), *(const float2 *)(a1 + c),
                                 *(const float2 *)(a0 + c + 8), *(const float2 *)(a1 + c + 8)};
#pragma unroll
            for (int p = 0; p < 4; p++) {
                own[k][p] = halves(x[p].x * stretch, x[p].y * stretch);
#if PARTS == 2
                own[k][4 + p] = rest(x[p].x * stretch, x[p].y * stretch, own[k][p]);
#endif
            }
        }
    }

    float s[32], g[KP / 2];
    u32 w[16 * PARTS];
#pragma unroll
    for (int e = 0; e < KP / 2; e++) g[e] = 0.f;
    double total[3] = {0, 0, 0};
    // Slopes are divided by 2^(head - HEAD), the gradient so far by 2^(past - HEAD).
    float head[2] = {-50.f, -50.f}, past[2] = {-50.f, -50.f};
    const bool own_valid[2] = {row0 < item.valid, row0 + 8 < item.valid};

    auto product = [&](int t) {
        const u32 at = base + (t % STAGES) * TILE_BYTES;
#pragma unroll
        for (int k = 0; k < STEPS1; k++) {
            const u32 place = at + (k / 4) * (TILE * 128) + (k % 4) * 32;
#if TERMS == 3
            mma_s(s, own[k] + 4, matrix(place, 16), k > 0);
            mma_s(s, own[k], matrix(place + PART_BYTES, 16), 1);
            mma_s(s, own[k], matrix(place, 16), 1);
#else
            mma_s(s, own[k], matrix(place, 16), k > 0);
#endif
        }
        mma_commit();
    };
    [[maybe_unused]] auto back = [&](int t, bool fresh) {
        const u32 at = base + (t % STAGES) * TILE_BYTES;
#pragma unroll
        for (int k = 0; k < STEPS2; k++) {
            const u32 place = at + k * 2048;
#if TERMS == 3
            mma_g(g, w + 16 + 4 * k, matrix(place, TILE * 128), k > 0 || !fresh);
            mma_g(g, w + 4 * k, matrix(place + PART_BYTES, TILE * 128), 1);
            mma_g(g, w + 4 * k, matrix(place, TILE * 128), 1);
#else
            mma_g(g, w + 4 * k, matrix(place, TILE * 128), k > 0 || !fresh);
#endif
        }
        mma_commit();
    };
    auto slopes = [&](int t) {
        const int tile = item.from + t;
        [[maybe_unused]] const int column0 = tile * TILE + 2 * (lane & 3);
        Sums sums[2];
        float watched = 0.f;
        u32 keep = ~0u, watch = 0;
        const bool on_diagonal = (tile >> 1) == item.tile;
#if SPLIT == 1
        const size_t place = ((size_t)(item.tile * 2 + group) * (pass.rows / TILE) + tile) * 128 + tid;
        keep = pass.keep[place];
        if (pass.watches) watch = pass.watch[place];
        pay<true>(s, pass, unstretch, shift, scale_log, keep, watch, on_diagonal, head, sums, watched);
#elif SPLIT == 2
        pairs_of(pass, item, row0, column0, keep, watch);
        if (!pass.watches) watch = 0;
        pay<true>(s, pass, unstretch, shift, scale_log, keep, watch, on_diagonal, head, sums, watched);
#else
        if (on_diagonal || tile * TILE + TILE > item.end) {
#pragma unroll
            for (int e = 0; e < 32; e++) {
                const int column = column0 + 8 * (e >> 2) + (e & 1), row = row0 + 8 * ((e >> 1) & 1);
                if (column == row || column >= item.end) keep &= ~(1u << e);
            }
        }
        if (__any_sync(~0u, keep != ~0u))
            pay<true>(s, pass, unstretch, shift, scale_log, keep, watch, on_diagonal, head, sums, watched);
        else
            pay<false>(s, pass, unstretch, shift, scale_log, keep, watch, on_diagonal, head, sums, watched);
#endif
        const float a = own_valid[0] ? 1.f : 0.f, b = own_valid[1] ? 1.f : 0.f;
        total[0] += (double)(a * sums[0].value + b * sums[1].value);
        total[1] += (double)(a * sums[0].slope + b * sums[1].slope);
        total[2] += (double)watched;
    };
    [[maybe_unused]] auto convert = [&]() {
        if (__any_sync(~0u, head[0] != past[0] || head[1] != past[1])) {
            const float by[2] = {exp2_fast(past[0] - head[0]), exp2_fast(past[1] - head[1])};
#pragma unroll
            for (int e = 0; e < KP / 2; e++) g[e] *= by[(e >> 1) & 1];
            past[0] = head[0];
            past[1] = head[1];
        }
#pragma unroll
        for (int e = 0; e < 16; e++) {
            w[e] = halves(s[2 * e], s[2 * e + 1]);
#if PARTS == 2
            w[16 + e] = rest(s[2 * e], s[2 * e + 1], w[e]);
#endif
        }
    };

    // Tensor cores round sums towards zero: they add up a few tiles only.
    float *out = (float *)pass.gradient + ((size_t)item.slot * pass.rows + row0) * KP + 2 * (lane & 3);
    bool written = false;
    [[maybe_unused]] auto flush = [&]() {
        const float a = exp2_fast(past[0] - HEAD) / stretch, b = exp2_fast(past[1] - HEAD) / stretch;
#pragma unroll
        for (int q = 0; q < KP / 8; q++) {
            float2 *p0 = (float2 *)(out + 8 * q), *p1 = (float2 *)(out + 8 * KP + 8 * q);
            float2 x = make_float2(a * g[4 * q], a * g[4 * q + 1]);
            float2 y = make_float2(b * g[4 * q + 2], b * g[4 * q + 3]);
            if (written) {
                const float2 u = *p0, v = *p1;
                x.x += u.x, x.y += u.y, y.x += v.x, y.y += v.y;
            }
            *p0 = x, *p1 = y;
        }
        written = true;
    };

    barrier_wait(shared_address(&full[0]), 0);
    mma_fence();
    product(0);
    mma_wait<0>();
    slopes(0);
#if GRAD
    convert();
    int t = 0;
    for (; t + 1 < n_tiles; t++) {
        barrier_wait(shared_address(&full[(t + 1) % STAGES]), (t + 1) / STAGES & 1);
        mma_fence();
        product(t + 1);
        back(t, t % FLUSH == 0);
        mma_wait<1>();
        slopes(t + 1);
        mma_wait<0>();
        if (tid == 0) barrier_arrive(shared_address(&empty[t % STAGES]));
        if (t % FLUSH == FLUSH - 1) flush();
        convert();
    }
    mma_fence();
    back(t, t % FLUSH == 0);
    mma_wait<0>();
    flush();
#else
    if (tid == 0) barrier_arrive(shared_address(&empty[0]));
    for (int t = 1; t < n_tiles; t++) {
        barrier_wait(shared_address(&full[t % STAGES]), t / STAGES & 1);
        mma_fence();
        product(t);
        mma_wait<0>();
        if (tid == 0) barrier_arrive(shared_address(&empty[t % STAGES]));
        slopes(t);
    }
#endif
#pragma unroll
    for (int c = 0; c < 3; c++) {
#pragma unroll
        for (int by = 16; by > 0; by >>= 1) total[c] += __shfl_down_sync(~0u, total[c], by);
        if (lane == 0) pass.sums[((size_t)blockIdx.x * 8 + warp) * 3 + c] = total[c];
    }
}

// The largest number of some rows, as the bits of a float; from 0 on.
extern "C" __global__ void largest(const float *y, u64 count, u32 *most) {
    u32 found = 0;
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < count; place += (u64)gridDim.x * blockDim.x)
        found = max(found, __float_as_uint(fabsf(y[place])));
    found = __reduce_max_sync(~0u, found);
    if ((threadIdx.x & 31) == 0) atomicMax(most, found);
}

// The power of two that takes the largest number to between 512 and 1024.
extern "C" __global__ void stretch_of(const u32 *most, float *stretch) {
    const int exponent = (int)(*most >> 23) - 127;
    const int by = *most == 0 ? 0 : max(-100, min(50, 9 - exponent));
    *stretch = exp2f((float)by);
}

// Writes the rows of a tile as products read them.
extern "C" __global__ void pack(const float *y, const float *stretch, unsigned char *packed) {
    const int tile = blockIdx.x;
    unsigned char *out = packed + (size_t)tile * TILE_BYTES;
    const float by = *stretch;
    for (int place = threadIdx.x; place < TILE * KP / 2; place += blockDim.x) {
        const int row = place / (KP / 2), k = 2 * (place % (KP / 2));
        float2 x = *(const float2 *)(y + ((size_t)tile * TILE + row) * KP + k);
        x.x *= by, x.y *= by;
        const u32 high = halves(x.x, x.y), chunk = (k % 64) / 8;
        const int at = (k / 64) * (TILE * 128) + row * 128 + ((chunk ^ (row & 7)) << 4) + (k % 8) * 2;
        *(u32 *)(out + at) = high;
#if PARTS == 2
        *(u32 *)(out + PART_BYTES + at) = rest(x.x, x.y, high);
#endif
    }
}
