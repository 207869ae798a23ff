// A card that is not there: the calls of the driver and of NVRTC that `cudarc` makes. README.md
// says what this is for, and what it cannot show.
#include <algorithm>
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

typedef int Result;
typedef unsigned long long Address;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

static std::recursive_mutex one_at_a_time;
struct Alone {
    std::lock_guard<std::recursive_mutex> guard{one_at_a_time};
};

static Result wrong(Result result, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("emulated card: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return result;
}

// ---------------------------------------------------------------- memory

static const size_t MEMORY = size_t(4) << 30, PAGE = 4096;
struct Mapped {
    void *from;
    size_t pages, size;
};
static std::map<Address, Mapped> memory;
static size_t in_use;

// Fresh memory is NaN, and ends where a page ends that nobody may touch.
static Result allocate(Address *out, size_t size) {
    Alone alone;
    if (size == 0) return wrong(INVALID_VALUE, "memory of no bytes");
    if (in_use + size > MEMORY) return OUT_OF_MEMORY;
    const size_t pages = (size + 15 + PAGE - 1) / PAGE * PAGE;
    char *from = (char *)mmap(nullptr, pages + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED) return OUT_OF_MEMORY;
    mprotect(from + pages, PAGE, PROT_NONE);
    memset(from, 0xff, pages);
    *out = (Address)(from + pages - (size + 15) / 16 * 16);
    memory[*out] = {from, pages + PAGE, size};
    in_use += size;
    return OK;
}

static Result give_back(Address at) {
    Alone alone;
    const auto found = memory.find(at);
    if (found == memory.end()) return wrong(INVALID_VALUE, "memory given back that is not there");
    munmap(found->second.from, found->second.pages);
    in_use -= found->second.size;
    memory.erase(found);
    return OK;
}

static bool is_there(Address at, size_t size) {
    auto next = memory.upper_bound(at);
    if (next == memory.begin()) return false;
    --next;
    return at + size <= next->first + next->second.size;
}

// ---------------------------------------------------------------- threads

struct Triple {
    unsigned x, y, z;
    size_t count() const { return size_t(x) * y * z; }
};
struct Emulated {
    Triple grid, block, block_at, thread_at;
    void (*barrier)(int line);
    unsigned long long (*exchange)(unsigned long long bits, unsigned mask, int from, int line);
};
struct Module {
    void *library;
    char *shared_from, *shared_to;
};
struct Function {
    Module *module;
    std::string name;
    unsigned bound;
    void (*call)(void **arguments);
};

enum State { FRESH, READY, AT_BARRIER, AT_EXCHANGE, DONE };
struct Fiber {
    ucontext_t context;
    jmp_buf place;
    bool has_begun;
};
struct Thread {
    State state;
    Fiber *fiber;
    int line;
    unsigned turn;
    unsigned long long bits[2];
};

static const size_t STACK = 256 << 10;
static Emulated card;
static Function *kernel;
static void **arguments;
static std::vector<Thread> threads;
static std::vector<unsigned> order;
static size_t next_in_order;
static unsigned current;
static std::vector<Fiber *> idle;
static jmp_buf scheduler;
static ucontext_t nowhere;
static std::string trouble;

static void wait_in(State state, int line) {
    Thread &thread = threads[current];
    thread.state = state;
    thread.line = line;
    if (!_setjmp(thread.fiber->place)) _longjmp(scheduler, 1);
}

static void barrier(int line) { wait_in(AT_BARRIER, line); }

static unsigned long long exchange(unsigned long long bits, unsigned mask, int from, int line) {
    const unsigned own = current, turn = threads[own].turn++ & 1;
    if (mask != ~0u && trouble.empty()) trouble = "an exchange of a part of a warp is not emulated";
    threads[own].bits[turn] = bits;
    wait_in(AT_EXCHANGE, line);
    return threads[own / 32 * 32 + from].bits[turn];
}

static void set_thread(unsigned thread) {
    current = thread;
    card.thread_at = {thread % card.block.x, thread / card.block.x % card.block.y,
                      thread / card.block.x / card.block.y};
}

// A fiber runs one fresh thread after another, until one of them has to wait: then the fiber
// is that thread's, and another one goes on.
static void fiber_main(unsigned low, unsigned high) {
    Fiber *own = (Fiber *)(uintptr_t(high) << 32 | low);
    for (;;) {
        while (next_in_order < order.size()) {
            const unsigned thread = order[next_in_order++];
            threads[thread].fiber = own;
            set_thread(thread);
            kernel->call(arguments);
            threads[thread].state = DONE;
        }
        idle.push_back(own);
        if (!_setjmp(own->place)) _longjmp(scheduler, 1);
    }
}

static Fiber *a_fiber() {
    if (!idle.empty()) {
        Fiber *fiber = idle.back();
        idle.pop_back();
        return fiber;
    }
    Fiber *fiber = new Fiber();
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fiber->context.uc_stack.ss_size = STACK;
    const uintptr_t at = (uintptr_t)fiber;
    makecontext(&fiber->context, (void (*)())fiber_main, 2, unsigned(at), unsigned(at >> 32));
    return fiber;
}

static void enter(Fiber *fiber) {
    if (_setjmp(scheduler)) return;
    if (fiber->has_begun) _longjmp(fiber->place, 1);
    fiber->has_begun = true;
    swapcontext(&nowhere, &fiber->context);
}

// The order in which so many blocks, or threads, run.
static void put_in_order(std::vector<unsigned> &order, size_t count, unsigned more) {
    const char *asked = getenv("LINKPROOF_EMULATOR_ORDER");
    order.resize(count);
    std::iota(order.begin(), order.end(), 0u);
    if (!asked || !strcmp(asked, "ascending")) return;
    if (!strcmp(asked, "descending")) return std::reverse(order.begin(), order.end());
    std::minstd_rand draws(unsigned(atoi(asked)) * 7919u + more);
    std::shuffle(order.begin(), order.end(), draws);
}

static bool all_are(size_t from, size_t to, State state) {
    for (size_t thread = from; thread < to; thread++)
        if (threads[thread].state != state || threads[thread].line != threads[from].line) return false;
    return true;
}

static void release(size_t from, size_t to) {
    for (size_t thread = from; thread < to; thread++) threads[thread].state = READY;
}

// Runs the threads of a block; false where they wait for each other for ever.
static bool run_block() {
    const size_t count = threads.size();
    memset(kernel->module->shared_from, 0xff, kernel->module->shared_to - kernel->module->shared_from);
    for (Thread &thread : threads) thread = {};
    static unsigned phase;
    put_in_order(order, count, ++phase);
    next_in_order = 0;
    while (next_in_order < count) enter(a_fiber());
    std::vector<unsigned> turns;
    for (;;) {
        bool is_done = true, goes_on = false;
        for (const Thread &thread : threads) is_done &= thread.state == DONE;
        if (is_done || !trouble.empty()) return trouble.empty();
        for (size_t warp = 0; warp + 32 <= count; warp += 32)
            if (all_are(warp, warp + 32, AT_EXCHANGE)) release(warp, warp + 32), goes_on = true;
        if (!goes_on && all_are(0, count, AT_BARRIER)) release(0, count), goes_on = true;
        if (!goes_on) {
            for (const Thread &thread : threads)
                if (thread.state == AT_BARRIER || thread.state == AT_EXCHANGE)
                    trouble = "some threads wait in line " + std::to_string(thread.line) + " of the kernel, and others never get there";
            return false;
        }
        put_in_order(turns, count, ++phase);
        for (const unsigned thread : turns)
            if (threads[thread].state == READY) set_thread(thread), enter(threads[thread].fiber);
    }
}

static Result run(Function *function, Triple grid, Triple block, void **with) {
    Alone alone;
    kernel = function;
    arguments = with;
    card = {grid, block, {}, {}, barrier, exchange};
    *(Emulated **)dlsym(function->module->library, "emulated") = &card;
    threads.resize(block.count());
    std::vector<unsigned> blocks;
    put_in_order(blocks, grid.count(), 0);
    for (const unsigned at : blocks) {
        card.block_at = {at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y};
        if (run_block()) continue;
        // Fibers that wait are left as they are: the test has failed.
        const Result result = wrong(LAUNCH_FAILED, "%s, block %u: %s", function->name.c_str(), at, trouble.c_str());
        trouble.clear();
        return result;
    }
    return OK;
}

// ---------------------------------------------------------------- the driver

extern "C" {

Result cuInit(unsigned) { return OK; }
Result cuDeviceGetCount(int *count) { return *count = 1, OK; }
Result cuDeviceGet(int *device, int number) { return *device = number, number == 0 ? OK : INVALID_VALUE; }
Result cuDeviceGetName(char *name, int size, int) { return snprintf(name, size, "emulated card"), OK; }
Result cuDeviceGetAttribute(int *value, int attribute, int) {
    switch (attribute) {
    case 75: *value = 8; break;  // compute capability: no tensor cores of Hopper
    case 76: *value = 0; break;
    case 16: *value = 2; break;  // multiprocessors
    case 115: *value = 1; break; // pools of memory
    default: return wrong(INVALID_VALUE, "attribute %d is not emulated", attribute);
    }
    return OK;
}
Result cuDevicePrimaryCtxRetain(void **context, int) { return *context = &card, OK; }
Result cuDevicePrimaryCtxRelease_v2(int) { return OK; }
static thread_local void *current_context;
Result cuCtxSetCurrent(void *context) { return current_context = context, OK; }
Result cuCtxGetCurrent(void **context) { return *context = current_context, OK; }
Result cuCtxSynchronize() { return OK; }
Result cuStreamCreate(void **stream, unsigned) { return *stream = new char, OK; }
Result cuStreamDestroy_v2(void *stream) { return delete (char *)stream, OK; }
Result cuStreamSynchronize(void *) { return OK; }
Result cuStreamWaitEvent(void *, void *, unsigned) { return OK; }
Result cuEventCreate(void **event, unsigned) { return *event = new char, OK; }
Result cuEventDestroy_v2(void *event) { return delete (char *)event, OK; }
Result cuEventRecord(void *, void *) { return OK; }
Result cuEventSynchronize(void *) { return OK; }
Result cuEventQuery(void *) { return OK; }

Result cuMemAlloc_v2(Address *at, size_t size) { return allocate(at, size); }
Result cuMemAllocAsync(Address *at, size_t size, void *) { return allocate(at, size); }
Result cuMemFree_v2(Address at) { return give_back(at); }
Result cuMemFreeAsync(Address at, void *) { return give_back(at); }
Result cuMemHostAlloc(void **at, size_t size, unsigned) { return allocate((Address *)at, size); }
Result cuMemFreeHost(void *at) { return give_back((Address)at); }
Result cuMemGetInfo_v2(size_t *free, size_t *all) { return *free = MEMORY - in_use, *all = MEMORY, OK; }

static Result copy(Address to, Address from, size_t size, Address there) {
    Alone alone;
    if (!is_there(there, size)) return wrong(INVALID_VALUE, "a copy of %zu bytes outside of memory", size);
    return memcpy((void *)to, (const void *)from, size), OK;
}
Result cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t size, void *) { return copy(to, (Address)from, size, to); }
Result cuMemcpyDtoHAsync_v2(void *to, Address from, size_t size, void *) { return copy((Address)to, from, size, from); }
Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t size, void *) {
    return is_there(from, size) ? copy(to, from, size, to) : wrong(INVALID_VALUE, "a copy from outside of memory");
}
Result cuMemsetD8Async(Address at, unsigned char byte, size_t size, void *) {
    Alone alone;
    if (!is_there(at, size)) return wrong(INVALID_VALUE, "%zu bytes set outside of memory", size);
    return memset((void *)at, byte, size), OK;
}

Result cuModuleLoadData(void **module, const void *image) {
    Alone alone;
    void *library = dlopen((const char *)image, RTLD_NOW | RTLD_LOCAL);
    if (!library) return wrong(NOT_FOUND, "%s", dlerror());
    auto from = (char *(*)())dlsym(library, "emulated_shared_from"), to = (char *(*)())dlsym(library, "emulated_shared_to");
    return *module = new Module{library, from(), to()}, OK;
}
Result cuModuleUnload(void *) { return OK; } // others may have the same library open
Result cuModuleGetFunction(void **function, void *module, const char *name) {
    Alone alone;
    Module *of = (Module *)module;
    auto call = (void (*)(void **))dlsym(of->library, ("call_" + std::string(name)).c_str());
    auto bound = (const unsigned *)dlsym(of->library, ("bound_" + std::string(name)).c_str());
    if (!call || !bound) return wrong(NOT_FOUND, "no kernel %s", name);
    // Few, and kept to the end.
    return *function = new Function{of, name, *bound, call}, OK;
}
Result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *, void **with, void **extra) {
    Function *of = (Function *)function;
    const Triple grid{gx, gy, gz}, block{bx, by, bz};
    const char *name = of->name.c_str();
    if (grid.count() == 0 || block.count() == 0) return wrong(INVALID_VALUE, "%s: no blocks, or no threads", name);
    if (gx > 0x7fffffff || gy > 65535 || gz > 65535) return wrong(INVALID_VALUE, "%s: too many blocks", name);
    if (block.count() > of->bound) return wrong(INVALID_VALUE, "%s: more threads than %u", name, of->bound);
    if (shared > 0 || extra) return wrong(INVALID_VALUE, "%s: dynamic shared memory is not emulated", name);
    return run(of, grid, block, with);
}
Result cuGetErrorString(Result result, const char **words) {
    *words = result == OUT_OF_MEMORY   ? "out of memory"
             : result == LAUNCH_FAILED ? "unspecified launch failure"
             : result == INVALID_VALUE ? "invalid argument"
                                       : "an error of the emulated card";
    return OK;
}
Result cuGetErrorName(Result result, const char **name) { return cuGetErrorString(result, name); }

// ---------------------------------------------------------------- NVRTC

struct Program {
    std::string text, code;
};

Result nvrtcCreateProgram(Program **program, const char *text, const char *, int, const char *const *,
                          const char *const *) {
    return *program = new Program{text, ""}, OK;
}
Result nvrtcDestroyProgram(Program **program) { return delete *program, OK; }
Result nvrtcGetCUBINSize(Program *program, size_t *size) { return *size = program->code.size() + 1, OK; }
Result nvrtcGetCUBIN(Program *program, char *code) { return strcpy(code, program->code.c_str()), OK; }
Result nvrtcGetProgramLogSize(Program *, size_t *size) { return *size = 1, OK; }
Result nvrtcGetProgramLog(Program *, char *log) { return *log = 0, OK; }
const char *nvrtcGetErrorString(Result) { return "a kernel that g++ does not compile"; }

// For each kernel a function that calls it, and the largest number of its threads.
static std::string entrances(const std::string &text) {
    static const std::string WORD = "__global__", BOUNDS = "__launch_bounds__(";
    std::string out = "\n";
    for (size_t at = text.find(WORD); at != std::string::npos; at = text.find(WORD, at)) {
        at += WORD.size();
        std::string bound = "1024";
        const size_t bounds = text.find(BOUNDS, at);
        size_t open = text.find('(', at);
        if (bounds != std::string::npos && bounds + BOUNDS.size() == open + 1) {
            const size_t close = text.find(')', open);
            bound = text.substr(open + 1, close - open - 1);
            open = text.find('(', close);
        }
        const size_t from = text.find_last_of(" \n", open) + 1;
        const std::string name = text.substr(from, open - from);
        out += "extern \"C\" { void call_" + name + "(void **a) { emulated_call(" + name + ", a); }\n" +
               "extern const unsigned bound_" + name + "; const unsigned bound_" + name + " = " + bound + "; }\n";
    }
    return out;
}

Result nvrtcCompileProgram(Program *program, int, const char *const *) {
    Alone alone;
    const char *folder = getenv("LINKPROOF_EMULATOR");
    const std::string text = program->text + entrances(program->text);
    char name[32];
    snprintf(name, sizeof name, "/%016zx", std::hash<std::string>()(text));
    const std::string file = std::string(folder ? folder : ".") + name, out = file + ".so";
    program->code = out;
    if (access(out.c_str(), R_OK) == 0) return OK;
    const std::string own = file + "." + std::to_string(getpid());
    FILE *source = fopen((own + ".cpp").c_str(), "w");
    if (!source || fputs(text.c_str(), source) < 0 || fclose(source) != 0) return wrong(6, "cannot write %s", own.c_str());
    const std::string command = "g++ -O2 -w -std=c++17 -shared -fPIC -ffp-contract=off -include '" +
                                std::string(folder) + "/kernel.h' '" + own + ".cpp' -o '" + own + ".so'";
    if (system(command.c_str()) != 0) return wrong(6, "failed: %s", command.c_str());
    rename((own + ".so").c_str(), out.c_str());
    return OK;
}
}
