// Masks and digests of tensors on a GPU: what handover.py does on the host, byte for byte.
// A library without a main: worker.py loads it with ctypes. All pointers are device memory, aligned to 16 bytes.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr size_t BLOCK = 32;   // bytes that one Philox counter gives
constexpr size_t PIECE = 512;  // bytes under one BLAKE2s hash
constexpr size_t HASH = 32;
constexpr int THREADS = 128;

// Philox4x64-10 (Salmon et al., SC 2011). As in numpy.random.Philox, the first counter is 1.
__host__ __device__ inline void philox(uint64_t block, uint64_t number, uint64_t k0, uint64_t k1, uint64_t* out) {
  uint64_t c0 = block + 1, c1 = 0, c2 = 0, c3 = number;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned __int128 a = static_cast<unsigned __int128>(0xD2E7470EE14C6C93ull) * c0;
    const unsigned __int128 b = static_cast<unsigned __int128>(0xCA5A826395121157ull) * c2;
    c0 = static_cast<uint64_t>(b >> 64) ^ c1 ^ k0;
    c2 = static_cast<uint64_t>(a >> 64) ^ c3 ^ k1;
    c1 = static_cast<uint64_t>(b);
    c3 = static_cast<uint64_t>(a);
    k0 += 0x9E3779B97F4A7C15ull;
    k1 += 0xBB67AE8584CAA73Bull;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

__host__ __device__ inline void unmask_block(uint8_t* data, size_t bytes, size_t block, uint64_t number, uint64_t k0,
                                             uint64_t k1) {
  uint64_t stream[4];
  philox(block, number, k0, k1, stream);
  const size_t start = block * BLOCK;
  if (start + BLOCK <= bytes) {
    ulonglong2* here = reinterpret_cast<ulonglong2*>(data + start);
    ulonglong2 low = here[0], high = here[1];
    low.x ^= stream[0], low.y ^= stream[1], high.x ^= stream[2], high.y ^= stream[3];
    here[0] = low, here[1] = high;
  } else {
#pragma unroll
    for (int i = 0; i < static_cast<int>(BLOCK); ++i)
      if (start + i < bytes) data[start + i] ^= static_cast<uint8_t>(stream[i / 8] >> (i % 8 * 8));
  }
}

__host__ __device__ inline uint32_t turn(uint32_t value, int by) { return value >> by | value << (32 - by); }

#define MIX(a, b, c, d, x, y)       \
  a += b + (x), d = turn(d ^ a, 16); \
  c += d, b = turn(b ^ c, 12);       \
  a += b + (y), d = turn(d ^ a, 8);  \
  c += d, b = turn(b ^ c, 7)

// BLAKE2s-256 (RFC 7693) of at most PIECE bytes, without a key.
__host__ __device__ inline void blake2s(const uint8_t* data, size_t bytes, uint32_t* out) {
  constexpr uint32_t START[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
  constexpr uint8_t ORDER[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
  uint32_t h[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) h[i] = START[i];
  h[0] ^= 0x01010000 ^ HASH;
  size_t done = 0;
  do {
    const size_t left = bytes - done;
    uint32_t m[16];
    if (left >= 64) {
      const uint4* words = reinterpret_cast<const uint4*>(data + done);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint4 four = words[i];
        m[4 * i] = four.x, m[4 * i + 1] = four.y, m[4 * i + 2] = four.z, m[4 * i + 3] = four.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        m[i] = 0;
        for (size_t k = 4 * i; k < 4 * i + 4 && k < left; ++k) m[i] |= static_cast<uint32_t>(data[done + k]) << (k % 4 * 8);
      }
    }
    done += left < 64 ? left : 64;
    uint32_t v[16];
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = h[i], v[i + 8] = START[i];
    v[12] ^= static_cast<uint32_t>(done);
    if (done == bytes) v[14] = ~v[14];
#pragma unroll
    for (int r = 0; r < 10; ++r) {
      MIX(v[0], v[4], v[8], v[12], m[ORDER[r][0]], m[ORDER[r][1]]);
      MIX(v[1], v[5], v[9], v[13], m[ORDER[r][2]], m[ORDER[r][3]]);
      MIX(v[2], v[6], v[10], v[14], m[ORDER[r][4]], m[ORDER[r][5]]);
      MIX(v[3], v[7], v[11], v[15], m[ORDER[r][6]], m[ORDER[r][7]]);
      MIX(v[0], v[5], v[10], v[15], m[ORDER[r][8]], m[ORDER[r][9]]);
      MIX(v[1], v[6], v[11], v[12], m[ORDER[r][10]], m[ORDER[r][11]]);
      MIX(v[2], v[7], v[8], v[13], m[ORDER[r][12]], m[ORDER[r][13]]);
      MIX(v[3], v[4], v[9], v[14], m[ORDER[r][14]], m[ORDER[r][15]]);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) h[i] ^= v[i] ^ v[i + 8];
  } while (done < bytes);
#pragma unroll
  for (int i = 0; i < 8; ++i) out[i] = h[i];
}

__host__ __device__ inline void hash_piece(const uint8_t* data, size_t bytes, size_t piece, uint8_t* hashes) {
  const size_t start = piece * PIECE, left = bytes - start;
  blake2s(data + start, left < PIECE ? left : PIECE, reinterpret_cast<uint32_t*>(hashes + piece * HASH));
}

__global__ void cuset_unmask(uint8_t* data, size_t bytes, uint64_t number, uint64_t k0, uint64_t k1) {
  const size_t block = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
  if (block * BLOCK < bytes) unmask_block(data, bytes, block, number, k0, k1);
}

__global__ void cuset_hash(const uint8_t* data, size_t bytes, size_t pieces, uint8_t* hashes) {
  const size_t piece = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
  if (piece < pieces) hash_piece(data, bytes, piece, hashes);
}

}  // namespace

// Let nothing stay in the L2 cache that was marked to persist there: writing over it would pass it by.
extern "C" void handover_forget() {
  cudaCtxResetPersistingL2Cache();
  cudaGetLastError();  // a GPU without such a cache says so
}

// Take the mask off, in place.
extern "C" int handover_unmask(uint8_t* data, size_t bytes, uint64_t number, uint64_t k0, uint64_t k1, cudaStream_t stream) {
  const size_t blocks = (bytes + BLOCK - 1) / BLOCK;
  if (blocks) cuset_unmask<<<(blocks + THREADS - 1) / THREADS, THREADS, 0, stream>>>(data, bytes, number, k0, k1);
  return cudaGetLastError();
}

// The digest, 32 bytes, into root. scratch: bytes / 15 + 4096 bytes.
extern "C" int handover_digest(const uint8_t* data, size_t bytes, uint8_t* scratch, uint8_t* root, cudaStream_t stream) {
  for (bool last = false; !last;) {
    const size_t pieces = bytes > PIECE ? (bytes + PIECE - 1) / PIECE : 1;
    last = pieces == 1;
    uint8_t* hashes = last ? root : scratch;
    cuset_hash<<<(pieces + THREADS - 1) / THREADS, THREADS, 0, stream>>>(data, bytes, pieces, hashes);
    data = hashes;
    bytes = pieces * HASH;
    scratch += bytes;
  }
  return cudaGetLastError();
}
