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
