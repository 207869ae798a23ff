// Value and gradient over all pairs without tensor cores: any card, any dimension,
// single and double precision. A block of 256 threads has 64 rows; those that they
// meet pass by in tiles of 64. Blocks beside each other in `y` have 128 columns of
// the gradient each, and compute the products anew.

#define TILE 64
#define COLUMNS 128
#define DEPTH 16

// What an unlinked pair at similarity `s` pays.
__device__ __forceinline__ Term<REAL> pays(const Pass &pass, REAL s) {
    const REAL at = fmin(s, (REAL)pass.cap);
#if SCORE == 0
    const REAL slope = exp((REAL)pass.growth * at);
    return {slope * ((REAL)1 / (REAL)pass.growth + (s - at)), slope};
#else
    Term<REAL> term = tabulated<REAL>(pass, at);
    if (s > at) term.slope = fmax(term.slope, (REAL)0);
    return {term.value + (s > at ? (s - at) * term.slope : (REAL)0), term.slope};
#endif
}

extern "C" __global__ void __launch_bounds__(256) pairs(const __grid_constant__ Pass pass) {
    __shared__ REAL shared[2 * DEPTH * TILE];
    __shared__ REAL slopes[TILE][TILE];
    REAL(*own)[TILE] = (REAL(*)[TILE])shared, (*other)[TILE] = own + DEPTH;
    REAL(*rows)[COLUMNS] = (REAL(*)[COLUMNS])shared;
    const Item item = pass.items[blockIdx.x];
    const REAL *left = (const REAL *)pass.left, *right = (const REAL *)pass.right;
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4, width = pass.dim;
    const int first = item.tile * TILE, column0 = blockIdx.y * COLUMNS;
    REAL g[4][8] = {};
    double total[3] = {0, 0, 0};
    for (int tile = item.from; tile < item.to; tile++) {
        REAL s[4][4] = {};
        for (int k0 = 0; k0 < width; k0 += DEPTH) {
            __syncthreads();
            for (int place = threadIdx.x; place < TILE * DEPTH; place += 256) {
                const int row = place / DEPTH, k = place % DEPTH;
                own[k][row] = left[(size_t)(first + row) * width + k0 + k];
                other[k][row] = right[((size_t)tile * TILE + row) * width + k0 + k];
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                REAL a[4], b[4];
#pragma unroll
                for (int c = 0; c < 4; c++) a[c] = own[k][ty * 4 + c], b[c] = other[k][tx * 4 + c];
#pragma unroll
                for (int r = 0; r < 4; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++) s[r][c] += a[r] * b[c];
            }
        }
        REAL sums[3] = {0, 0, 0};
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const int i = first + ty * 4 + r, j = tile * TILE + tx * 4 + c;
                bool keep = i != j && i < item.valid && j < item.end, watch = false;
#if SPLIT
                if (keep) part_of(pass, i, j, keep, watch);
                watch = watch && pass.watches;
#endif
                REAL slope = 0;
                if (keep || watch) {
                    const Term<REAL> term = pays(pass, s[r][c] + (REAL)item.shift);
                    if (watch) sums[2] += (REAL)item.scale * term.value;
                    if (keep) {
                        slope = (REAL)item.scale * term.slope;
                        sums[0] += (REAL)item.scale * term.value;
                        sums[1] += slope;
                    }
                }
                slopes[tx * 4 + c][ty * 4 + r] = slope;
            }
#pragma unroll
        for (int c = 0; c < 3; c++) total[c] += (double)sums[c];
#if GRAD
        for (int j0 = 0; j0 < TILE; j0 += DEPTH) {
            __syncthreads();
            for (int place = threadIdx.x; place < DEPTH * COLUMNS; place += 256) {
                const int j = place / COLUMNS, k = place % COLUMNS;
                rows[j][k] = column0 + k < width ? right[((size_t)tile * TILE + j0 + j) * width + column0 + k] : (REAL)0;
            }
            __syncthreads();
#pragma unroll
            for (int j = 0; j < DEPTH; j++) {
                REAL a[4];
#pragma unroll
                for (int r = 0; r < 4; r++) a[r] = slopes[j0 + j][ty * 4 + r];
#pragma unroll
                for (int c = 0; c < 8; c++) {
                    const REAL b = rows[j][tx + 16 * c];
#pragma unroll
                    for (int r = 0; r < 4; r++) g[r][c] += a[r] * b;
                }
            }
        }
#endif
    }
#if GRAD
    REAL *out = (REAL *)pass.gradient + ((size_t)item.slot * pass.rows + first) * width;
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 8; c++) {
            const int k = column0 + tx + 16 * c;
            if (k < width) out[(size_t)(ty * 4 + r) * width + k] = g[r][c];
        }
#endif
    if (blockIdx.y > 0) return;
#pragma unroll
    for (int c = 0; c < 3; c++) {
#pragma unroll
        for (int by = 16; by > 0; by >>= 1) total[c] += __shfl_down_sync(~0u, total[c], by);
        if ((threadIdx.x & 31) == 0)
            pass.sums[((size_t)blockIdx.x * 8 + (threadIdx.x >> 5)) * 3 + c] = total[c];
    }
}

// How many pairs of an item take part, and how many are watched, each twice.
extern "C" __global__ void __launch_bounds__(256) count(const __grid_constant__ Pass pass, int own, u64 *counts) {
    __shared__ u64 sums[8][2];
    const Item item = pass.items[blockIdx.x];
    u64 kept = 0, watched = 0;
    for (int i = item.tile * own; i < min(item.valid, (item.tile + 1) * own); i++)
        for (int j = item.from * TILE + threadIdx.x; j < min(item.end, item.to * TILE); j += 256) {
            if (i == j) continue;
            bool keep, watch;
            part_of(pass, i, j, keep, watch);
            kept += keep;
            watched += watch;
        }
    for (int by = 16; by > 0; by >>= 1) {
        kept += __shfl_down_sync(~0u, kept, by);
        watched += __shfl_down_sync(~0u, watched, by);
    }
    if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5][0] = kept, sums[threadIdx.x >> 5][1] = watched;
    __syncthreads();
    if (threadIdx.x == 0) {
        kept = watched = 0;
        for (int warp = 0; warp < 8; warp++) kept += sums[warp][0], watched += sums[warp][1];
        counts[blockIdx.x * 2] = kept;
        counts[blockIdx.x * 2 + 1] = watched;
    }
}

// Adds up the partial gradients.
extern "C" __global__ void add_slots(const REAL *slots, u64 size, u32 count, REAL *out) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < size; place += (u64)gridDim.x * blockDim.x) {
        REAL sum = slots[place];
        for (u32 slot = 1; slot < count; slot++) sum += slots[slot * size + place];
        out[place] = sum;
    }
}
