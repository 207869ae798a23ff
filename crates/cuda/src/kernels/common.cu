// What all kernels share: the description of a pass over pairs, the held-out
// rule, and what an unlinked pair pays.

typedef unsigned int u32;
typedef unsigned long long u64;

// Pairs whose hash falls into a range (kind 1), or all pairs of nodes whose hash
// does (kind 2); kind 0: none.
struct Rule {
    u32 seed, from, width, kind;
};

// A tile of rows of one view, and the rows of one view that they meet.
struct Item {
    int tile;     // the tile of rows whose gradient is computed
    int from, to; // tiles of the rows that they meet
    int end;      // the row after the last of the view that is met
    int valid;    // the row after the last of the tile's own view
    int slot;     // which partial gradient it writes
    double shift; // -gamma
    double scale; // the factor of a pair
};

struct Pass {
    const Item *items;
    const void *left;  // rows x KP: what stands left in a product
    const void *right; // what stands right: the same, or packed tiles
    void *gradient;    // slots x rows x KP
    double *sums;      // for each item and warp: value, slope, watched
    const float *stretch;       // a power of two that rows are multiplied by
    const u32 *hash_first;      // for each row, as the smaller node of a pair
    const u32 *hash_fold;       // as the larger one, by the seed of the fold
    const u32 *hash_stop;       // and of the pairs that decide when to stop
    const unsigned char *named; // nodes that rules name: bit 0 fold, bit 1 stop
    u32 *keep, *watch;          // the pairs of a part, and those watched, bit by bit
    const double *cells;        // the table of the probability score
    Rule fold, stop;
    u32 part;      // 0 training, 1 held out, 2 judged
    u32 rows;      // rows, padding included
    u32 dim;       // numbers in a row that are not padding
    double growth; // a of e^{as}/a
    double cap;    // beyond it a score is continued
    double beta;   // of the probability score
    double cells_per_unit;
    int watches;
    float rate;    // the slope of a pair doubles with so much of its similarity, inverted
    float inverse; // 1/a
    float limit;   // the cap
    // Of the probability score up to `top`, in binary logarithms: `e^{ks}` times
    // polynomials of `2^(p s + origin) - 1`, which is between -1 and 1.
    float top, slow, origin;
    u32 count; // terms of the polynomials; 0: none do
    float terms[2][16];
};

__device__ __forceinline__ u32 mix(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

__device__ __forceinline__ bool named_pair(const Pass &pass, const Rule &rule, const u32 *second, u32 flag,
                                           int i, int j) {
    if (rule.kind == 0) return false;
    if (rule.kind == 2) return (pass.named[i] | pass.named[j]) & flag;
    return mix(pass.hash_first[min(i, j)] ^ second[max(i, j)]) - rule.from < rule.width;
}

// Whether two rows are a pair of the part wanted, and whether they are watched.
__device__ __forceinline__ void part_of(const Pass &pass, int i, int j, bool &keep, bool &watch) {
    const bool fold = named_pair(pass, pass.fold, pass.hash_fold, 1, i, j);
    const bool stop = !fold && named_pair(pass, pass.stop, pass.hash_stop, 2, i, j);
    keep = pass.part == 0 ? !fold && !stop : pass.part == 1 ? stop : fold;
    watch = stop;
}

// The table of the probability score reaches from -40 to 14.
#define TABLE_LOW -40.0
#define TABLE_HIGH 14.0
#define TABLE_TERMS 10

template <typename T> struct Term {
    T value, slope;
};

// What an unlinked pair pays under the probability score, not continued: by the
// table, below it as the exponential that it tends to, above it by the expansion
// for large means.
template <typename T> __device__ __forceinline__ Term<T> tabulated(const Pass &pass, T s) {
    if (s >= (T)TABLE_HIGH) {
        const T beta = (T)pass.beta, c = 1 + beta, mu = exp(s);
        const T correction = beta * (c + 1) / (24 * c) / mu;
        const T a = exp((T)-0.5 * beta * ((T)1.8378770664093453 + s)) / sqrt(c) * (1 + correction);
        const T decay = exp(-beta * mu);
        return {(1 - decay) / beta - (1 - a) / c,
                (decay == 0 ? 0 : mu * decay) + a / c * ((T)-0.5 * beta - correction / (1 + correction))};
    }
    const T at = s < (T)TABLE_LOW ? (T)TABLE_LOW : s;
    const T place = (at - (T)TABLE_LOW) * (T)pass.cells_per_unit;
    const int cell = (int)place;
    const T u = 2 * (place - (T)cell) - 1;
    const double *cells = pass.cells + (size_t)cell * 2 * TABLE_TERMS;
    T value = 0, slope = 0;
#pragma unroll
    for (int term = TABLE_TERMS - 1; term >= 0; term--) {
        value = value * u + (T)cells[term];
        slope = slope * u + (T)cells[TABLE_TERMS + term];
    }
    if (s < (T)TABLE_LOW) {
        const T fall = exp((T)fmin(1 + pass.beta, 2.0) * (s - at));
        value *= fall;
        slope *= fall;
    }
    return {value, slope};
}
