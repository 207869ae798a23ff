// What networks do between their products, and rows as pairs with offsets and signs read
// them. Values stand row after row. Products are those of `resident.cu`.

// Where a weight stands: strip after strip of units, each a row for every input.
__device__ __forceinline__ u64 in_strips(u32 input, u32 unit, u32 inputs, u32 outputs, u32 strip) {
    const u32 start = unit / strip * strip;
    return (u64)start * inputs + (u64)input * min(strip, outputs - start) + (unit - start);
}

// The weights of a layer row after row, or transposed.
extern "C" __global__ void unstrip(const REAL *weights, u32 inputs, u32 outputs, u32 strip, int transposed,
                                   REAL *out) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)inputs * outputs;
         place += (u64)gridDim.x * blockDim.x) {
        const u32 input = place / outputs, unit = place % outputs;
        const u64 to = transposed ? (u64)unit * inputs + input : place;
        out[to] = weights[in_strips(input, unit, inputs, outputs, strip)];
    }
}

// The derivative in the weights of a layer: parts, row after row, added up, and the ridge.
extern "C" __global__ void finish_layer(const REAL *parts, u32 n_parts, u32 inputs, u32 outputs, u32 strip,
                                        double ridge, const REAL *weights, REAL *out) {
    const u64 count = (u64)inputs * outputs;
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < count; place += (u64)gridDim.x * blockDim.x) {
        REAL sum = parts[place];
        for (u32 part = 1; part < n_parts; part++) sum += parts[part * count + place];
        const u64 at = in_strips(place / outputs, place % outputs, inputs, outputs, strip);
        out[at] = sum + (REAL)ridge * weights[at];
    }
}

// What a training pass leaves out: draws are hashes of seed, step, layer, node and unit.
struct Drop {
    u64 start; // of seed and step
    double kept;
    u32 layer, threshold;
    int drops;
};

__device__ __forceinline__ REAL drawn(const Drop &drop, u32 node, u32 unit) {
    u64 x = drop.start;
    const u32 parts[2] = {drop.layer, node};
    for (int part = 0; part < 2; part++) {
        x = (x ^ parts[part]) * 0xbf58476d1ce4e5b9ull;
        x ^= x >> 29;
    }
    const u32 key = (u32)((x * 0x94d049bb133111ebull) >> 32);
    return mix(key ^ unit * 0x9e3779b1u) < drop.threshold ? (REAL)0 : (REAL)drop.kept;
}

// Data vectors with entries left out: dense ones, and lines of sparse ones.
extern "C" __global__ void drop_dense(const REAL *x, u32 rows, u32 columns, Drop drop, REAL *out) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)rows * columns;
         place += (u64)gridDim.x * blockDim.x)
        out[place] = x[place] * drawn(drop, place / columns, place % columns);
}

extern "C" __global__ void drop_lines(const u64 *offsets, const u32 *others, const REAL *values, u32 lines,
                                      int by_column, Drop drop, REAL *out) {
    for (u32 line = blockIdx.x * blockDim.x + threadIdx.x; line < lines; line += gridDim.x * blockDim.x)
        for (u64 at = offsets[line]; at < offsets[line + 1]; at++) {
            const u32 row = by_column ? others[at] : line, column = by_column ? line : others[at];
            out[at] = values[at] * drawn(drop, row, column);
        }
}

// A layer after its product: normalised if there are means, then function and dropout. The
// normalised values are left in `values`. Functions: 0 none, 1 tanh, 2 relu.
struct Shape {
    u32 rows, units;
    u32 width; // of a row of outputs
    int function;
};
extern "C" __global__ void activate(REAL *values, REAL *outputs, Shape shape, const REAL *mean, const REAL *inverse,
                                    const REAL *scale, const REAL *shift, Drop drop) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)shape.rows * shape.units;
         place += (u64)gridDim.x * blockDim.x) {
        const u32 row = place / shape.units, unit = place % shape.units;
        REAL x = values[place];
        if (mean) {
            x = (x - mean[unit]) * inverse[unit];
            values[place] = x;
            x *= scale[unit];
        }
        if (shift) x += shift[unit];
        if (shape.function == 1) x = 1 - 2 / (exp(x + x) + 1);
        if (shape.function == 2) x = fmax(x, (REAL)0);
        if (drop.drops) x *= drawn(drop, row, unit);
        outputs[(size_t)row * shape.width + unit] = x;
    }
}

// The derivative in rows, times a factor, without their padding.
extern "C" __global__ void take_slopes(const REAL *slopes, u32 rows, u32 dim, u32 width, double factor, REAL *out) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)rows * dim;
         place += (u64)gridDim.x * blockDim.x)
        out[place] = (REAL)factor * slopes[place / dim * width + place % dim];
}

// Back through dropout and function, whose slope the outputs tell.
extern "C" __global__ void through_function(REAL *derivative, const REAL *outputs, Shape shape, Drop drop) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)shape.rows * shape.units;
         place += (u64)gridDim.x * blockDim.x) {
        const u32 row = place / shape.units, unit = place % shape.units;
        const REAL output = outputs[(size_t)row * shape.width + unit];
        REAL x = derivative[place];
        if (shape.function == 1) {
            // A dropped unit has output 0: its draw alone stops the derivative.
            const REAL value = drop.drops ? output * (1 / (REAL)drop.kept) : output;
            x *= 1 - value * value;
        }
        if (shape.function == 2) x = output > 0 ? x : (REAL)0;
        if (drop.drops) x *= drawn(drop, row, unit);
        derivative[place] = x;
    }
}

// Sums over 32 warps, in order, for each lane.
__device__ __forceinline__ double over_warps(double (*sums)[33], double x) {
    const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    __syncthreads();
    sums[warp][lane] = x;
    __syncthreads();
    double total = 0;
    for (int other = 0; other < 32; other++) total += sums[other][lane];
    return total;
}

// Mean and one over the standard deviation of each unit; a block for 32 units.
extern "C" __global__ void __launch_bounds__(1024) moments(const REAL *values, u32 rows, u32 units, REAL *mean,
                                                           REAL *inverse) {
    __shared__ double sums[32][33];
    const u32 warp = threadIdx.x >> 5, unit = blockIdx.x * 32 + (threadIdx.x & 31);
    double sum = 0, squares = 0;
    if (unit < units)
        for (u32 row = warp; row < rows; row += 32) sum += (double)values[(size_t)row * units + unit];
    const double centre = over_warps(sums, sum) / rows;
    if (unit < units)
        for (u32 row = warp; row < rows; row += 32) {
            const double apart = (double)values[(size_t)row * units + unit] - centre;
            squares += apart * apart;
        }
    const double variance = over_warps(sums, squares) / rows;
    if (warp == 0 && unit < units) {
        mean[unit] = (REAL)centre;
        inverse[unit] = (REAL)(1 / sqrt(variance + 1e-5));
    }
}

// Sums over the rows for each unit: of the derivative, and of its product with the
// normalised values where there are any.
extern "C" __global__ void __launch_bounds__(1024) unit_sums(const REAL *derivative, const REAL *normed, u32 rows,
                                                             u32 units, REAL *sum_out, REAL *product_out) {
    __shared__ double sums[32][33];
    const u32 warp = threadIdx.x >> 5, unit = blockIdx.x * 32 + (threadIdx.x & 31);
    double sum = 0, product = 0;
    if (unit < units)
        for (u32 row = warp; row < rows; row += 32) {
            const size_t at = (size_t)row * units + unit;
            sum += (double)derivative[at];
            if (normed) product += (double)derivative[at] * (double)normed[at];
        }
    sum = over_warps(sums, sum);
    if (normed) product = over_warps(sums, product);
    if (warp == 0 && unit < units) {
        sum_out[unit] = (REAL)sum;
        if (normed) product_out[unit] = (REAL)product;
    }
}

// Back through scale, shift and normalisation, by those sums.
extern "C" __global__ void through_norm(REAL *derivative, const REAL *normed, u32 rows, u32 units, const REAL *scale,
                                        const REAL *inverse, const REAL *sum, const REAL *product) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)rows * units;
         place += (u64)gridDim.x * blockDim.x) {
        const u32 unit = place % units;
        const REAL centred = derivative[place] - sum[unit] / rows - normed[place] * (product[unit] / rows);
        derivative[place] = scale[unit] * inverse[unit] * centred;
    }
}

// Rows with offsets and signs: (y, b, 1) meets (z, 1, b), where z is y with its last
// dimensions negated. Offsets are `unit (own + told)`, told by data vectors if at all.
struct Faces {
    u32 rows, dim, width;
    u32 positive; // dimensions that count as they are
    int offsets;
    double unit;
};
extern "C" __global__ void face(REAL *y, REAL *z, Faces faces, const REAL *own, const REAL *told) {
    for (u64 place = blockIdx.x * (u64)blockDim.x + threadIdx.x; place < (u64)faces.rows * faces.width;
         place += (u64)gridDim.x * blockDim.x) {
        const u32 row = place / faces.width, k = place % faces.width;
        if (k < faces.dim) {
            z[place] = k < faces.positive ? y[place] : -y[place];
        } else if (faces.offsets && k < faces.dim + 2) {
            const REAL offset = (REAL)faces.unit * (told ? own[row] + told[row] : own[row]);
            y[place] = k == faces.dim ? offset : (REAL)1;
            z[place] = k == faces.dim ? (REAL)1 : offset;
        }
    }
}
