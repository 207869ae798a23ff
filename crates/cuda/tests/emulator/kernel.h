// The words of CUDA C++ for a compiler that knows C++ only. Goes in front of each kernel.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

struct Triple {
    unsigned x, y, z;
};

// What a kernel sees of the card; `driver.cpp` has the same.
struct Emulated {
    Triple grid, block, block_at, thread_at;
    void (*barrier)(int line);
    unsigned long long (*exchange)(unsigned long long bits, unsigned mask, int from, int line);
};
extern "C" Emulated *emulated;
Emulated *emulated;

#define gridDim (emulated->grid)
#define blockDim (emulated->block)
#define blockIdx (emulated->block_at)
#define threadIdx (emulated->thread_at)

#define __global__
#define __device__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __restrict__ __restrict
#define __launch_bounds__(...)
// In a section of its own, so that the driver can fill it with NaN before each block.
#define __shared__ static __attribute__((section("emulated_shared")))
extern "C" char __start_emulated_shared[] __attribute__((weak)), __stop_emulated_shared[] __attribute__((weak));
extern "C" char *emulated_shared_from() { return __start_emulated_shared; }
extern "C" char *emulated_shared_to() { return __stop_emulated_shared; }

static inline void __syncthreads(int line = __builtin_LINE()) { emulated->barrier(line); }

// The number of another lane of the warp.
template <typename T> static inline T lane_of(unsigned mask, T x, int from, int line) {
    static_assert(sizeof(T) <= 8, "4 or 8 bytes");
    unsigned long long bits = 0;
    memcpy(&bits, &x, sizeof x);
    bits = emulated->exchange(bits, mask, from, line);
    memcpy(&x, &bits, sizeof x);
    return x;
}
template <typename T>
static inline T __shfl_xor_sync(unsigned mask, T x, int by, int line = __builtin_LINE()) {
    return lane_of(mask, x, (threadIdx.x & 31) ^ by, line);
}
template <typename T>
static inline T __shfl_down_sync(unsigned mask, T x, unsigned by, int line = __builtin_LINE()) {
    const unsigned lane = threadIdx.x & 31;
    return lane_of(mask, x, lane + by < 32 ? lane + by : lane, line);
}

using std::exp;
using std::expm1;
using std::fabs;
using std::fmax;
using std::fmin;
using std::lgamma;
using std::log;
using std::sqrt;
using std::tanh;
template <typename A, typename B> static inline std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <typename A, typename B> static inline std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }

// Calls a kernel for one thread, its arguments where a launch has them.
template <typename... A, size_t... I>
static inline void call_at(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    kernel(*(A *)arguments[I]...);
}
template <typename... A> static inline void emulated_call(void (*kernel)(A...), void **arguments) {
    call_at(kernel, arguments, std::index_sequence_for<A...>());
}
