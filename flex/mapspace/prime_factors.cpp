// SPDX-License-Identifier: Apache-2.0
// Small primes are divided out; what is left is prime by the test of Miller and Rabin, whose first twelve primes as
// bases decide every number of 64 bits (Sorenson and Webster, 2017), or has a factor that Pollard's rho method finds
// after about the fourth root of it.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>

#include "core/wide.h"
#include "flex/mapspace/factors.h"

namespace pliant {

namespace {

/// Larger factors are looked for by rho: up to here dividing is quicker.
constexpr Count kDivideUpTo = 1000;

Count multiply(Count a, Count b, Count modulus) { return static_cast<Count>(Wide{a} * b % modulus); }

Count power(Count base, Count exponent, Count modulus) {
  Count result = 1;
  for (base %= modulus; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply(result, base, modulus);
    base = multiply(base, base, modulus);
  }
  return result;
}

/// Of an odd number without factors of up to 37.
bool is_prime(Count n) {
  const int twos = std::countr_zero(static_cast<std::uint64_t>(n - 1));
  for (const Count base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    Count x = power(base, (n - 1) >> twos, n);
    if (x == 1 || x == n - 1) continue;
    bool passes = false;
    for (int i = 1; i < twos && !passes; ++i) passes = (x = multiply(x, x, n)) == n - 1;
    if (!passes) return false;
  }
  return true;
}

/// Of a composite number: a factor other than 1 and itself. The values x^2 + shift meet again modulo a factor before
/// they do modulo the number; where both happen at once another shift is tried.
Count some_factor(Count n) {
  for (Count shift = 1;; ++shift) {
    const auto next = [&](Count x) { return static_cast<Count>((Wide{x} * x + shift) % n); };
    Count slow = 2, fast = 2, factor = 1;
    while (factor == 1) {
      slow = next(slow);
      fast = next(next(fast));
      factor = std::gcd(std::max(slow, fast) - std::min(slow, fast), n);
    }
    if (factor != n) return factor;
  }
}

void add_large_primes(Count n, std::map<Count, int>& exponents) {
  if (n == 1) return;
  if (n < kDivideUpTo * kDivideUpTo || is_prime(n)) {
    ++exponents[n];
    return;
  }
  const Count factor = some_factor(n);
  add_large_primes(factor, exponents);
  add_large_primes(n / factor, exponents);
}

}  // namespace

std::vector<std::pair<Count, int>> prime_factors(Count n) {
  std::vector<std::pair<Count, int>> factors;
  for (Count p = 2; p <= kDivideUpTo && p <= n / p; p += p == 2 ? 1 : 2) {
    int exponent = 0;
    for (; n % p == 0; n /= p) ++exponent;
    if (exponent > 0) factors.emplace_back(p, exponent);
  }
  std::map<Count, int> large;
  add_large_primes(n, large);
  factors.insert(factors.end(), large.begin(), large.end());
  return factors;
}

}  // namespace pliant
