// What surrounds the sum over all pairs where a whole objective stays on the card:
// tables and linear maps of data vectors, forward and backward, and listed pairs.

// Copies the vectors of a table to where pairs read them.
extern "C" __global__ void spread(const REAL *table, u32 count, u32 dim, u32 width, REAL *y) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)count * width;
         place += (u64)gridDim.x * blockDim.x) {
        const u32 row = place / width, k = place % width;
        y[place] = k < dim ? table[(size_t)row * dim + k] : (REAL)0;
    }
}

// out = inverse * (sum over parts) + ridge * weights, out of rows of `width` numbers.
extern "C" __global__ void finish(const REAL *parts, u32 n_parts, u64 distance, u32 count, u32 dim, u32 width,
                                  double inverse, double ridge, const REAL *weights, REAL *out) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)count * dim;
         place += (u64)gridDim.x * blockDim.x) {
        const u64 at = place / dim * width + place % dim;
        REAL sum = parts[at];
        for (u32 part = 1; part < n_parts; part++) sum += parts[part * distance + at];
        out[place] = (REAL)inverse * sum + (REAL)ridge * weights[place];
    }
}

// A warp for each row of sparse data vectors: its embedding.
extern "C" __global__ void __launch_bounds__(256) sparse_rows(const u64 *offsets, const u32 *columns,
                                                              const REAL *values, const REAL *weights, u32 count,
                                                              u32 dim, u32 width, REAL *y) {
    const u32 row = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= count) return;
    for (u32 k = lane; k < width; k += 32) {
        REAL sum = 0;
        if (k < dim)
            for (u64 at = offsets[row]; at < offsets[row + 1]; at++)
                sum += values[at] * weights[(size_t)columns[at] * dim + k];
        y[(size_t)row * width + k] = sum;
    }
}

// A block for each column: the derivative in its weights. Eight warps share its
// entries, and their sums are added up in order.
extern "C" __global__ void __launch_bounds__(256) sparse_columns(const u64 *offsets, const u32 *rows,
                                                                 const REAL *values, const REAL *slopes, u32 dim,
                                                                 u32 width, REAL *out) {
    __shared__ REAL sums[8][33];
    const u32 column = blockIdx.x, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    for (u32 k0 = 0; k0 < dim; k0 += 32) {
        const u32 k = k0 + lane;
        REAL sum = 0;
        if (k < dim)
            for (u64 at = offsets[column] + warp; at < offsets[column + 1]; at += 8)
                sum += values[at] * slopes[(size_t)rows[at] * width + k];
        sums[warp][lane] = sum;
        __syncthreads();
        if (warp == 0 && k < dim) {
            for (int other = 1; other < 8; other++) sum += sums[other][lane];
            out[(size_t)column * dim + k] = sum;
        }
        __syncthreads();
    }
}

// A product of matrices, 64 x 64 numbers a block. Rows of `a` are read across
// (TRANSPOSED 0) or down; block `z` adds up a part of the inner dimension.
template <bool TRANSPOSED>
__device__ __forceinline__ void product(const REAL *a, const REAL *b, u32 rows, u32 inner, u32 columns,
                                        u32 a_width, u32 b_width, u32 c_width, u64 distance, REAL *c) {
    __shared__ REAL left[16][65], right[16][65];
    const u32 tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const u32 row0 = blockIdx.x * 64, column0 = blockIdx.y * 64;
    const u32 each = (inner + gridDim.z - 1) / gridDim.z, from = blockIdx.z * each, to = min(inner, from + each);
    REAL sums[4][4] = {};
    for (u32 k0 = from; k0 < to; k0 += 16) {
        for (u32 place = threadIdx.x; place < 1024; place += 256) {
            const u32 k = TRANSPOSED ? place / 64 : place % 16, r = TRANSPOSED ? place % 64 : place / 16;
            const bool has = row0 + r < rows && k0 + k < to;
            const size_t at = TRANSPOSED ? (size_t)(k0 + k) * a_width + row0 + r : (size_t)(row0 + r) * a_width + k0 + k;
            left[k][r] = has ? a[at] : (REAL)0;
            const u32 bk = place / 64, bc = place % 64;
            const bool there = column0 + bc < columns && k0 + bk < to;
            right[bk][bc] = there ? b[(size_t)(k0 + bk) * b_width + column0 + bc] : (REAL)0;
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < 16; k++) {
            REAL x[4], y[4];
#pragma unroll
            for (u32 i = 0; i < 4; i++) x[i] = left[k][ty * 4 + i], y[i] = right[k][tx + 16 * i];
#pragma unroll
            for (u32 i = 0; i < 4; i++)
#pragma unroll
                for (u32 j = 0; j < 4; j++) sums[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (u32 i = 0; i < 4; i++)
        for (u32 j = 0; j < 4; j++) {
            const u32 row = row0 + ty * 4 + i, column = column0 + tx + 16 * j;
            if (row < rows && column < columns) c[blockIdx.z * distance + (size_t)row * c_width + column] = sums[i][j];
        }
}

// Embeddings of dense data vectors.
extern "C" __global__ void __launch_bounds__(256) dense_rows(const REAL *x, const REAL *weights, u32 count,
                                                             u32 inputs, u32 dim, u32 width, REAL *y) {
    product<false>(x, weights, count, inputs, dim, inputs, dim, width, 0, y);
}

// The derivative in the weights, in parts.
extern "C" __global__ void __launch_bounds__(256) dense_columns(const REAL *x, const REAL *slopes, u32 count,
                                                                u32 inputs, u32 dim, u32 width, REAL *out) {
    product<true>(x, slopes, inputs, count, dim, inputs, width, dim, (u64)inputs * dim, out);
}

typedef Term<double> Pay;

__device__ __forceinline__ Pay formula_unlinked(const Pass &pass, double s) {
#if SCORE == 0
    const double slope = exp(pass.growth * s);
    return {slope / pass.growth, slope};
#else
    return tabulated<double>(pass, s);
#endif
}

__device__ __forceinline__ Pay formula_correction(const Pass &pass, double s, double w) {
#if SCORE == 0
    const double beta = pass.growth - 1;
    if (beta == 0) return {-w * s, -w};
    return {-w * expm1(beta * s) / beta, -w * exp(beta * s)};
#else
    const double beta = pass.beta, mu = exp(s);
    double gain, log_p;
    if (w < 1e6) {
        gain = w * s - lgamma(w + 1);
        log_p = gain - mu;
    } else {
        const double log_w = log(w), r = s - log_w;
        log_p = -w * fmax(expm1(r) - r, 0.0) - 0.5 * (1.8378770664093453 + log_w) - 1 / (12 * w);
        gain = log_p + mu;
    }
    const double p_zero = exp(-beta * mu), p_link = exp(beta * log_p);
    const double value = beta * gain < 1 ? -p_zero * expm1(beta * gain) / beta : -(p_link - p_zero) / beta;
    const double own = p_link == 0 ? 0 : p_link * (w - mu), zero = p_zero == 0 ? 0 : p_zero * mu;
    return {value, -own - zero};
#endif
}

__device__ __forceinline__ Pay sum_of(Pay a, Pay b) { return {a.value + b.value, a.slope + b.slope}; }

// A term from a cap on: its tangent, or a constant where that would fall.
__device__ __forceinline__ Pay beyond(Pay at_cap, double by) {
    const double slope = fmax(at_cap.slope, 0.0);
    return {at_cap.value + slope * by, slope};
}

__device__ __forceinline__ Pay unlinked(const Pass &pass, double s) {
    return s <= pass.cap ? formula_unlinked(pass, s) : beyond(formula_unlinked(pass, pass.cap), s - pass.cap);
}

// What a link pays on top of an unlinked pair.
__device__ __forceinline__ Pay correction(const Pass &pass, double s, double w, double cap) {
    if (!(s > pass.cap)) return formula_correction(pass, s, w);
    const double at = fmin(s, cap);
    Pay whole = sum_of(formula_unlinked(pass, at), formula_correction(pass, at, w));
    if (s > cap) whole = beyond(whole, s - cap);
    const Pay all = unlinked(pass, s);
    return {whole.value - all.value, whole.slope - all.slope};
}

// Listed pairs, a warp for each row, in the order of its list.
struct Listed {
    const u64 *offsets;
    const u32 *targets;
    const double *weights, *caps;
    const u32 *views;
    const double *gamma;
    const unsigned char *takes; // rows that take part; 0: all
    void *gradient;             // added to; 0: not wanted
    double *sums;               // for each row and view of the other end: value, slope
    double factor;
    u32 n_views;
    int corrects; // 1: what links pay on top; 0: what every pair pays
};

extern "C" __global__ void __launch_bounds__(256) listed(const __grid_constant__ Pass pass,
                                                         const __grid_constant__ Listed list) {
    const u32 row = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31, width = pass.dim;
    if (row >= pass.rows || (list.takes && !list.takes[row])) return;
    const REAL *own = (const REAL *)pass.left + (size_t)row * width;
    const u32 d = list.views[row];
    for (u64 at = list.offsets[row]; at < list.offsets[row + 1]; at++) {
        const u32 target = list.targets[at], e = list.views[target];
        const REAL *other = (const REAL *)pass.right + (size_t)target * width;
        REAL dot = 0;
        for (u32 k = lane; k < width; k += 32) dot += own[k] * other[k];
        for (int by = 16; by > 0; by >>= 1) dot += __shfl_xor_sync(~0u, dot, by);
        const double s = (double)dot - list.gamma[d * list.n_views + e];
        const Pay pay = list.corrects ? correction(pass, s, list.weights[at], list.caps[at]) : unlinked(pass, s);
        if (lane == 0 && row < target) {
            double *sums = list.sums + ((size_t)row * list.n_views + e) * 2;
            sums[0] += list.factor * pay.value;
            sums[1] += list.factor * pay.slope;
        }
        if (list.gradient) {
            REAL *out = (REAL *)list.gradient + (size_t)row * width;
            const REAL by = (REAL)(list.factor * pay.slope);
            for (u32 k = lane; k < width; k += 32) out[k] += by * other[k];
        }
    }
}

// The sums of the columns of some rows, a block for each column, in a fixed order.
extern "C" __global__ void __launch_bounds__(256) column_sums(const double *numbers, u32 rows, u32 columns,
                                                              double *out) {
    __shared__ double sums[256];
    double sum = 0;
    for (u32 row = threadIdx.x; row < rows; row += 256) sum += numbers[(size_t)row * columns + blockIdx.x];
    sums[threadIdx.x] = sum;
    for (u32 by = 128; by > 0; by >>= 1) {
        __syncthreads();
        if (threadIdx.x < by) sums[threadIdx.x] += sums[threadIdx.x + by];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// Sums of squares, a part for each block.
extern "C" __global__ void __launch_bounds__(256) squares(const REAL *numbers, u64 count, double *out) {
    __shared__ double sums[256];
    double sum = 0;
    for (u64 place = blockIdx.x * 256ull + threadIdx.x; place < count; place += gridDim.x * 256ull)
        sum += (double)numbers[place] * (double)numbers[place];
    sums[threadIdx.x] = sum;
    for (u32 by = 128; by > 0; by >>= 1) {
        __syncthreads();
        if (threadIdx.x < by) sums[threadIdx.x] += sums[threadIdx.x + by];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// Copies some rows together; a place beyond all is padding.
extern "C" __global__ void gather(const REAL *from, const u64 *places, u32 rows, u32 dim, u32 width, REAL *out) {
    for (u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x; at < (u64)rows * width; at += (u64)gridDim.x * blockDim.x) {
        const u64 place = places[at / width];
        const u32 k = at % width;
        out[at] = place != ~0ull && k < dim ? from[place + k] : (REAL)0;
    }
}

// The listed pairs of the rows of a sweep's part, each for the end that moves: half of
// what they pay, and all of the derivative. `rows` says which rows of the lists they are.
extern "C" __global__ void __launch_bounds__(256) swept(const __grid_constant__ Pass pass,
                                                        const __grid_constant__ Listed list, const u32 *rows,
                                                        const REAL *table, const u64 *places, u32 dim) {
    const u32 own_row = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31, width = pass.dim;
    if (own_row >= pass.rows || rows[own_row] == ~0u) return;
    const REAL *own = (const REAL *)pass.left + (size_t)own_row * width;
    REAL *out = (REAL *)list.gradient + (size_t)own_row * width;
    const u32 row = rows[own_row], d = list.views[row];
    for (u64 at = list.offsets[row]; at < list.offsets[row + 1]; at++) {
        const u32 target = list.targets[at], e = list.views[target];
        const REAL *other = table + places[target];
        REAL dot = 0;
        for (u32 k = lane; k < dim; k += 32) dot += own[k] * other[k];
        for (int by = 16; by > 0; by >>= 1) dot += __shfl_xor_sync(~0u, dot, by);
        const double s = (double)dot - list.gamma[d * list.n_views + e];
        const Pay pay = list.corrects ? correction(pass, s, list.weights[at], list.caps[at]) : unlinked(pass, s);
        if (lane == 0) {
            double *sums = list.sums + ((size_t)own_row * list.n_views + e) * 2;
            sums[0] += 0.5 * list.factor * pay.value;
            sums[1] += 0.5 * list.factor * pay.slope;
        }
        const REAL by = (REAL)(list.factor * pay.slope);
        for (u32 k = lane; k < dim; k += 32) out[k] += by * other[k];
    }
}

// The derivative in the vectors of a part, and for each block its sum of squares.
extern "C" __global__ void __launch_bounds__(256) part_derivative(const REAL *slopes, const REAL *table,
                                                                  const u64 *places, u32 rows, u32 dim, u32 width,
                                                                  REAL inverse, REAL ridge, REAL *out,
                                                                  double *squares) {
    __shared__ double sums[256];
    double sum = 0;
    for (u64 at = blockIdx.x * 256ull + threadIdx.x; at < (u64)rows * dim; at += gridDim.x * 256ull) {
        const u64 row = at / dim, k = at % dim, place = places[row];
        if (place == ~0ull) continue;
        const REAL x = slopes[row * width + k] * inverse + table[place + k] * ridge;
        out[at] = x;
        sum += (double)x * (double)x;
    }
    sums[threadIdx.x] = sum;
    for (u32 by = 128; by > 0; by >>= 1) {
        __syncthreads();
        if (threadIdx.x < by) sums[threadIdx.x] += sums[threadIdx.x + by];
    }
    if (threadIdx.x == 0) squares[blockIdx.x] = sums[0];
}

// Moves the vectors of a part: a step of Adam, or one with momentum.
extern "C" __global__ void part_step(const REAL *derivative, const u64 *places, u32 rows, u32 dim, int adam,
                                     REAL rate, REAL clip, REAL momentum, REAL second_scale, REAL *table,
                                     REAL *first, REAL *second) {
    for (u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x; at < (u64)rows * dim; at += (u64)gridDim.x * blockDim.x) {
        const u64 place = places[at / dim];
        if (place == ~0ull) continue;
        const u64 to = place + at % dim;
        const REAL x = derivative[at] * clip;
        if (adam) {
            first[to] = momentum * first[to] + (1 - momentum) * x;
            second[to] = (REAL)0.999 * second[to] + (REAL)(1 - 0.999) * x * x;
            table[to] -= rate * first[to] / (sqrt(second[to] * second_scale) + (REAL)1e-8);
        } else {
            first[to] = momentum * first[to] + x;
            table[to] -= rate * first[to];
        }
    }
}
