// The kernel of the tensor cores; tensor.cu says how it works.

extern "C" __global__ void __launch_bounds__(384, 1) pairs(const __grid_constant__ Pass pass) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ __align__(8) u64 full[STAGES], empty[STAGES];
    __shared__ float base_and_more[2];
    const u32 base = (shared_address(memory) + 1023) & ~1023u;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const Item item = pass.items[blockIdx.x];
    const int n_tiles = item.to - item.from;
    if (threadIdx.x == 0) {
        // A base, infinite where pairs count nothing, and the factor that rounding took.
        const double exact = base_of(pass, item);
        base_and_more[0] = (float)exact;
        base_and_more[1] = isfinite(exact) ? exp2f((float)(exact - (double)(float)exact)) : 1.f;
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
    const float shift = (float)item.shift;
    const volatile float &from = base_and_more[0], &more = base_and_more[1];
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
        auto place = [&](int k) { return at + (k / 4) * (TILE * 128) + (k % 4) * 32; };
#if TERMS == 3
        // Small products first: every sum is rounded towards zero.
#pragma unroll
        for (int k = 0; k < STEPS1; k++) {
            mma_s(s, own[k] + 4, matrix(place(k), 16), k > 0);
            mma_s(s, own[k], matrix(place(k) + PART_BYTES, 16), 1);
        }
#endif
#pragma unroll
        for (int k = 0; k < STEPS1; k++) mma_s(s, own[k], matrix(place(k), 16), k > 0 || TERMS == 3);
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
        pay<true>(s, pass, unstretch, shift, from, keep, watch, on_diagonal, head, sums, watched);
#elif SPLIT == 2
        pairs_of(pass, item, row0, column0, keep, watch);
        if (!pass.watches) watch = 0;
        pay<true>(s, pass, unstretch, shift, from, keep, watch, on_diagonal, head, sums, watched);
#else
        if (on_diagonal || tile * TILE + TILE > item.end) {
#pragma unroll
            for (int e = 0; e < 32; e++) {
                const int column = column0 + 8 * (e >> 2) + (e & 1), row = row0 + 8 * ((e >> 1) & 1);
                if (column == row || column >= item.end) keep &= ~(1u << e);
            }
            pay<true>(s, pass, unstretch, shift, from, keep, watch, on_diagonal, head, sums, watched);
        } else {
            pay<false>(s, pass, unstretch, shift, from, keep, watch, on_diagonal, head, sums, watched);
        }
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
        const float by = __fdividef(more, stretch), a = by * exp2_fast(past[0] - HEAD), b = by * exp2_fast(past[1] - HEAD);
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
        if (lane == 0) pass.sums[((size_t)blockIdx.x * 8 + warp) * 3 + c] = more * total[c];
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
