// SPDX-License-Identifier: Apache-2.0
// Figures of an NVIDIA GPU of the Hopper generation that no data sheet prints: bandwidths that kernels reach, and the
// energy of a word and of a multiply-add, from the card's own counter. Each line is one small kernel, repeated for some
// seconds, less the power of the idle card.
//
//     nvcc -O3 -gencode=arch=compute_90a,code=sm_90a -o gpu_figures bench/gpu_figures.cu && ./gpu_figures
//
// configs/accelerators/h200.yaml says which of its figures come from here.
#include <cuda_bf16.h>
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#define CHECK(call)                                                                      \
  if (const cudaError_t e = (call); e != cudaSuccess) {                                  \
    std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)), std::exit(1); \
  }

// The driver's counter of energy (mJ of the whole board) and its clock, without a header that may be missing.
struct Board {
  void* device = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  Board() {
    void* lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (lib == nullptr) std::printf("no libnvidia-ml\n"), std::exit(1);
    reinterpret_cast<int (*)()>(dlsym(lib, "nvmlInit_v2"))();
    reinterpret_cast<int (*)(unsigned, void**)>(dlsym(lib, "nvmlDeviceGetHandleByIndex_v2"))(0, &device);
    energy = reinterpret_cast<decltype(energy)>(dlsym(lib, "nvmlDeviceGetTotalEnergyConsumption"));
    clock = reinterpret_cast<decltype(clock)>(dlsym(lib, "nvmlDeviceGetClockInfo"));
  }
  double joules() const {
    unsigned long long mj = 0;
    energy(device, &mj);
    return 1e-3 * static_cast<double>(mj);
  }
  unsigned mhz() const {
    unsigned now = 0;
    clock(device, 1, &now);
    return now;
  }
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Reads `bytes` once, 16 bytes a thread and load, past L1.
__global__ void read_once(const uint4* data, size_t count, unsigned* sink) {
  unsigned sum = 0;
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < count; i += 4 * stride) {
    const uint4 a = __ldcg(data + i), b = __ldcg(data + i + stride), c = __ldcg(data + i + 2 * stride),
                d = __ldcg(data + i + 3 * stride);
    sum ^= a.x ^ b.y ^ c.z ^ d.w ^ a.w ^ b.x ^ c.y ^ d.z;
  }
  if (sum == 0x12345678U) *sink = sum;
}

// Every block reads the same buffer again and again, each from a place of its own.
__global__ void read_again(const uint4* data, size_t count, int rounds, unsigned* sink) {
  unsigned sum = 0;
  const size_t start = (size_t{blockIdx.x} * 7919 * blockDim.x) % count;
  for (int r = 0; r < rounds; ++r) {
    const size_t i =
        (start + size_t{static_cast<unsigned>(r)} * 4 * blockDim.x + threadIdx.x) % (count - 4 * blockDim.x);
    const uint4 a = __ldcg(data + i), b = __ldcg(data + i + blockDim.x), c = __ldcg(data + i + 2 * blockDim.x),
                d = __ldcg(data + i + 3 * blockDim.x);
    sum ^= a.x ^ b.y ^ c.z ^ d.w ^ a.w ^ b.x ^ c.y ^ d.z;
  }
  if (sum == 0x12345678U) *sink = sum;
}

__global__ void read_shared(const uint4* data, int rounds, unsigned* sink) {
  extern __shared__ uint4 tile[];
  for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) tile[i] = data[i];
  __syncthreads();
  unsigned sum = 0, at = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const uint4 a = tile[at], b = tile[(at + 1024) & 8191], c = tile[(at + 2048) & 8191], d = tile[(at + 3072) & 8191];
    sum ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
    at = (at + 32) & 8191;
  }
  if (sum == 0x12345678U) *sink = sum;
}

// Products m64 n256 k16 of random numbers: A and B from shared memory, sums in registers. Two groups of warps a block.
#define REG8(i)                                                                                               \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define REG32(i) REG8(i), REG8(i + 8), REG8(i + 16), REG8(i + 24)
__device__ unsigned long long descriptor(const void* shared) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  return (static_cast<unsigned long long>((address & 0x3FFFF) >> 4)) | (8ULL << 16) | (16ULL << 32);
}
__global__ void __launch_bounds__(256, 1) multiply(const uint4* data, int rounds, float* sink) {
  extern __shared__ __align__(1024) uint4 tile[];
  for (unsigned i = threadIdx.x; i < 12288; i += blockDim.x) tile[i] = data[i + 16 * (blockIdx.x % 64)];
  __syncthreads();
  float d[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) d[i] = 0;
  const unsigned group = threadIdx.x / 128;
  for (int r = 0; r < rounds; ++r) {
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned long long a = descriptor(tile + 2048 * group + 128 * k + 512 * (r & 3));
      const unsigned long long b = descriptor(tile + 4096 + 512 * k + 2048 * (r & 3));
      asm volatile(
          "{\nwgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
          "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,"
          "%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,"
          "%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,"
          "%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,"
          "%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, "
          "%128, %129, 1, 1, 1, 0, 0;\n}\n"
          : REG32(0), REG32(32), REG32(64), REG32(96)
          : "l"(a), "l"(b));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" ::: "memory");
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += d[i];
  if (sum == 12345.678F) *sink = sum;
}

__global__ void nothing() {}

__global__ void fill(unsigned* data, size_t count, bool numbers) {
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    unsigned long long x = (i + 1) * 0x9E3779B97F4A7C15ULL;
    x ^= x >> 31, x *= 0xBF58476D1CE4E5B9ULL, x ^= x >> 29;
    if (numbers) {  // two numbers near the normal distribution, as BF16
      const auto normal = [](unsigned y) {
        return ((y & 255) + ((y >> 8) & 255) + ((y >> 16) & 255) + ((y >> 24) & 255) - 510.0F) / 148.0F;
      };
      const __nv_bfloat162 two =
          __floats2bfloat162_rn(normal(static_cast<unsigned>(x)), normal(static_cast<unsigned>(x >> 32)));
      data[i] = *reinterpret_cast<const unsigned*>(&two);
    } else {
      data[i] = static_cast<unsigned>(x);
    }
  }
}

int main() {
  const Board board;
  cudaDeviceProp card{};
  CHECK(cudaGetDeviceProperties(&card, 0));
  const int sms = card.multiProcessorCount;
  std::printf("{\"card\": \"%s\", \"sms\": %d, \"l2_bytes\": %d}\n", card.name, sms, card.l2CacheSize);
  const size_t large = size_t{8} << 30;
  unsigned* data = nullptr;
  CHECK(cudaMalloc(&data, large));
  fill<<<sms * 8, 256>>>(data, large / 4, false);
  CHECK(cudaDeviceSynchronize());
  const auto* words = reinterpret_cast<const uint4*>(data);

  sleep(3);
  double idle_j = -board.joules(), idle_s = -seconds();
  sleep(4);
  idle_j += board.joules(), idle_s += seconds();
  const double idle_w = idle_j / idle_s;
  std::printf("{\"what\": \"idle\", \"watts\": %.1f}\n", idle_w);

  // `units` of work of one run: bytes or multiply-adds.
  const auto measure = [&](const char* what, double units, const std::function<void()>& run) {
    run();
    CHECK(cudaDeviceSynchronize());
    double begin = seconds();
    while (seconds() - begin < 1) run(), cudaDeviceSynchronize();  // warm, and the clock where it stays
    const double j0 = board.joules();
    begin = seconds();
    long runs = 0;
    unsigned mhz = 0;
    while (seconds() - begin < 3) {
      for (int i = 0; i < 4; ++i) run();
      runs += 4, mhz = board.mhz();
      CHECK(cudaDeviceSynchronize());
    }
    const double s = seconds() - begin, j = board.joules() - j0;
    const double rate = units * static_cast<double>(runs) / s;
    std::printf(
        "{\"what\": \"%s\", \"per_second\": %.4g, \"per_cycle_and_sm\": %.2f, \"mhz\": %u, \"watts\": %.1f, "
        "\"pj_each_above_idle\": %.4f}\n",
        what, rate, rate / (mhz * 1e6) / sms, mhz, j / s, 1e12 * (j / s - idle_w) / rate);
    std::fflush(stdout);
  };
  measure("HBM read, bytes", static_cast<double>(large),
          [&] { read_once<<<sms * 16, 512>>>(words, large / 16, data); });
  measure("HBM copy, bytes read and written", static_cast<double>(large),
          [&] { cudaMemcpyAsync(data, data + large / 8, large / 2, cudaMemcpyDeviceToDevice); });
  for (const int mib : {4, 16, 24, 40})
    measure(("L2 read of " + std::to_string(mib) + " MiB, bytes").c_str(), 4.0 * 512 * 16 * 4 * sms * 4000,
            [&, mib] { read_again<<<sms * 4, 512>>>(words, size_t(mib) << 16, 4000, data); });
  CHECK(cudaFuncSetAttribute(read_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072));
  measure("shared memory read, bytes", 1024.0 * 64 * sms * 200000,
          [&] { read_shared<<<sms, 1024, 131072>>>(words, 200000, data); });
  CHECK(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, 196608));
  fill<<<sms * 8, 256>>>(data, large / 64, true);
  const double macs = 2.0 * 4 * 64 * 256 * 16 * 20000 * sms;
  measure("tensor cores, multiply-adds of random numbers", macs,
          [&] { multiply<<<sms, 256, 196608>>>(words, 20000, reinterpret_cast<float*>(data)); });
  CHECK(cudaMemset(data, 0, large / 16));
  measure("tensor cores, multiply-adds of zeros", macs,
          [&] { multiply<<<sms, 256, 196608>>>(words, 20000, reinterpret_cast<float*>(data)); });
  fill<<<sms * 8, 256>>>(data, large / 64, true);
  measure("tensor cores, half of the SMs, random numbers", macs / 2,
          [&] { multiply<<<sms / 2, 256, 196608>>>(words, 20000, reinterpret_cast<float*>(data)); });

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 1000; ++i) nothing<<<sms, 128, 0, stream>>>();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  measure("kernels that do nothing, in a graph", 1000, [&] { CHECK(cudaGraphLaunch(ready, stream)); });
  return 0;
}
