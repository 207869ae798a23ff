// First-order LINE (Tang et al., 2015) with negative sampling, written anew
// from the paper because the original cannot be installed: links drawn by an
// alias table, negatives by degree^0.75, a table of the sigmoid, a learning
// rate that falls linearly, and threads that update one shared table of
// vectors without locks. Unlike the original it draws negatives by an alias
// table too, which is faster and saves the 400 MB of its table of 10^8 entries.
//
//   line LINKS.csv N_NODES OUT.npy SAMPLES [THREADS [SEED]]
//
// LINKS.csv: a header, then src,dst between row numbers, each link once.
// Prints one line of JSON.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int DIM = 128;
constexpr int NEGATIVES = 5;
constexpr float START_RATE = 0.025f;
constexpr float SIGMOID_BOUND = 6.0f;
constexpr int SIGMOID_CELLS = 1000;

struct Random {
    uint64_t state;
    uint64_t next() {  // splitmix64
        uint64_t z = (state += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
};

// Draws a place with probability proportional to its weight (Walker's method).
class Alias {
public:
    explicit Alias(const std::vector<double>& weights)
        : chance(weights.size()), other(weights.size()) {
        const size_t n = weights.size();
        double total = 0;
        for (double weight : weights) total += weight;
        std::vector<double> left(n);
        std::vector<uint32_t> small, large;
        for (size_t i = 0; i < n; ++i) {
            left[i] = weights[i] * n / total;
            (left[i] < 1 ? small : large).push_back(i);
        }
        while (!small.empty() && !large.empty()) {
            const uint32_t low = small.back(), high = large.back();
            small.pop_back();
            chance[low] = static_cast<float>(left[low]);
            other[low] = high;
            left[high] -= 1 - left[low];
            if (left[high] < 1) {
                large.pop_back();
                small.push_back(high);
            }
        }
        for (uint32_t i : small) chance[i] = 1;
        for (uint32_t i : large) chance[i] = 1;
    }

    uint32_t draw(Random& random) const {
        const uint64_t bits = random.next();
        const uint32_t place = ((bits >> 32) * chance.size()) >> 32;
        const float coin = (bits & 0xffffff) * (1.0f / 0x1000000);
        return coin < chance[place] ? place : other[place];
    }

private:
    std::vector<float> chance;
    std::vector<uint32_t> other;
};

struct Task {
    std::vector<uint32_t> src, dst;
    std::vector<float> vectors;
    std::vector<float> sigmoid;
    uint64_t samples = 0;
};

float sigmoid_of(const Task& task, float x) {
    if (x > SIGMOID_BOUND) return 1;
    if (x < -SIGMOID_BOUND) return 0;
    const int cell = (x + SIGMOID_BOUND) * (SIGMOID_CELLS / SIGMOID_BOUND / 2);
    return task.sigmoid[cell];
}

// Moves `target` and collects what `source` is to move by.
void update(Task& task, const float* source, float* target, float* error, float label, float rate) {
    float product = 0;
    for (int k = 0; k < DIM; ++k) product += source[k] * target[k];
    const float step = (label - sigmoid_of(task, product)) * rate;
    for (int k = 0; k < DIM; ++k) error[k] += step * target[k];
    for (int k = 0; k < DIM; ++k) target[k] += step * source[k];
}

void train(Task& task, const Alias& links, const Alias& negatives, uint64_t share, uint64_t seed) {
    Random random{seed};
    float rate = START_RATE;
    for (uint64_t sample = 0; sample < share; ++sample) {
        if (sample % 10000 == 0) {
            const float left = 1 - static_cast<float>(sample) / (share + 1);
            rate = START_RATE * std::max(left, 0.0001f);
        }
        const uint32_t link = links.draw(random);
        // Each link stands for both its directions.
        const bool turn = random.next() & 1;
        const uint32_t u = turn ? task.dst[link] : task.src[link];
        const uint32_t v = turn ? task.src[link] : task.dst[link];
        float* source = &task.vectors[static_cast<size_t>(u) * DIM];
        float error[DIM] = {};
        update(task, source, &task.vectors[static_cast<size_t>(v) * DIM], error, 1, rate);
        for (int draw = 0; draw < NEGATIVES; ++draw) {
            const uint32_t other = negatives.draw(random);
            if (other == u || other == v) continue;
            update(task, source, &task.vectors[static_cast<size_t>(other) * DIM], error, 0, rate);
        }
        for (int k = 0; k < DIM; ++k) source[k] += error[k];
    }
}

bool read_links(const char* path, Task& task) {
    std::ifstream in(path);
    std::string line;
    if (!std::getline(in, line)) return false;
    while (std::getline(in, line)) {
        char* rest = nullptr;
        task.src.push_back(std::strtoul(line.c_str(), &rest, 10));
        if (*rest != ',') return false;
        task.dst.push_back(std::strtoul(rest + 1, nullptr, 10));
    }
    return !task.src.empty();
}

bool write_npy(const char* path, const std::vector<float>& values, size_t rows) {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                         std::to_string(rows) + ", " + std::to_string(DIM) + "), }";
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    const uint16_t length = header.size();
    std::FILE* out = std::fopen(path, "wb");
    if (!out) return false;
    bool good = std::fwrite("\x93NUMPY\x01\x00", 1, 8, out) == 8;
    good &= std::fwrite(&length, 2, 1, out) == 1;
    good &= std::fwrite(header.data(), 1, header.size(), out) == header.size();
    good &= std::fwrite(values.data(), sizeof(float), values.size(), out) == values.size();
    return (std::fclose(out) == 0) && good;
}

// The most memory that the process has held.
double peak_megabytes() {
    std::ifstream in("/proc/self/status");
    std::string line;
    while (std::getline(in, line))
        if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1024;
    return 0;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: line LINKS.csv N_NODES OUT.npy SAMPLES [THREADS [SEED]]\n");
        return 2;
    }
    const auto start = std::chrono::steady_clock::now();
    const size_t n_nodes = std::strtoull(argv[2], nullptr, 10);
    const unsigned threads = argc > 5 ? std::atoi(argv[5]) : 1;
    const uint64_t seed = argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 1;
    Task task;
    task.samples = std::strtoull(argv[4], nullptr, 10);
    if (!read_links(argv[1], task)) {
        std::fprintf(stderr, "%s: expected a header and lines src,dst\n", argv[1]);
        return 2;
    }
    std::vector<double> degree(n_nodes, 0.0);
    for (size_t link = 0; link < task.src.size(); ++link) {
        if (task.src[link] >= n_nodes || task.dst[link] >= n_nodes) {
            std::fprintf(stderr, "%s: a row of %zu or more\n", argv[1], n_nodes);
            return 2;
        }
        ++degree[task.src[link]];
        ++degree[task.dst[link]];
    }
    for (double& weight : degree) weight = std::pow(weight, 0.75);
    const Alias negatives(degree);
    const Alias links(std::vector<double>(task.src.size(), 1.0));
    for (int cell = 0; cell < SIGMOID_CELLS + 1; ++cell) {
        const double x = 2.0 * SIGMOID_BOUND * cell / SIGMOID_CELLS - SIGMOID_BOUND;
        task.sigmoid.push_back(1 / (1 + std::exp(-x)));
    }
    Random random{seed};
    task.vectors.resize(n_nodes * DIM);
    for (float& x : task.vectors) x = ((random.next() >> 40) * (1.0f / 0x1000000) - 0.5f) / DIM;
    const double loaded = seconds_since(start);

    const auto training = std::chrono::steady_clock::now();
    std::vector<std::thread> pool;
    for (unsigned thread = 0; thread < threads; ++thread) {
        pool.emplace_back([&, thread] {
            train(task, links, negatives, task.samples / threads, seed * 1000 + thread + 1);
        });
    }
    for (std::thread& thread : pool) thread.join();
    const double trained = seconds_since(training);
    if (!write_npy(argv[3], task.vectors, n_nodes)) {
        std::fprintf(stderr, "%s: cannot write\n", argv[3]);
        return 1;
    }
    std::printf("{\"samples\": %llu, \"load_seconds\": %.6f, \"train_seconds\": %.6f, "
                "\"peak_mb\": %.1f}\n",
                static_cast<unsigned long long>(task.samples), loaded, trained, peak_megabytes());
    return 0;
}
