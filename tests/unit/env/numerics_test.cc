#include "env/numerics.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

// Square roots: hardly a term is exact, so that the order of summation shows in the last bits.
std::vector<double> roots(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 1; i <= n; ++i) values.push_back(std::sqrt(static_cast<double>(i)));
  return values;
}

std::uint64_t bits_of_sum(std::size_t n) {
  return std::bit_cast<std::uint64_t>(pairwise_sum(roots(n)));
}

TEST_CASE("pairwise sums have numpy's bits", "[numerics]") {
  // numpy.sum(numpy.sqrt(numpy.arange(1, n + 1))), at every kind of length: the plain loop, eight
  // accumulators with and without a tail, halves.
  CHECK(bits_of_sum(1) == 0x3ff0000000000000);
  CHECK(bits_of_sum(3) == 0x401095c653b5e21e);
  CHECK(bits_of_sum(7) == 0x402af4848037f4be);
  CHECK(bits_of_sum(8) == 0x40304e560cebe1da);
  CHECK(bits_of_sum(9) == 0x40334e560cebe1da);
  CHECK(bits_of_sum(15) == 0x40443c0ea25a80e2);
  CHECK(bits_of_sum(16) == 0x40463c0ea25a80e0);
  CHECK(bits_of_sum(100) == 0x4084fbb41d9c5e62);
  CHECK(bits_of_sum(127) == 0x408dfc9a6bd0465a);
  CHECK(bits_of_sum(128) == 0x408e571ce56a434a);
  CHECK(bits_of_sum(129) == 0x408eb1f9b469a664);
  CHECK(bits_of_sum(200) == 0x409d91efd5040c7c);
  CHECK(bits_of_sum(256) == 0x40a564ec3a9a7344);
  CHECK(bits_of_sum(1000) == 0x40d49a5d2d42af1a);
  CHECK(bits_of_sum(4097) == 0x41055853bcea29e1);
}

TEST_CASE("pairwise sums are close to long double ones", "[numerics]") {
  Rng rng(Seed{1});
  for (const std::size_t n : {0U, 1U, 7U, 8U, 100U, 1000U, 100'000U}) {
    std::vector<double> values;
    long double exact = 0;
    for (std::size_t i = 0; i < n; ++i) {
      values.push_back(rng.uniform() * 1e6);
      exact += values.back();
    }
    CAPTURE(n);
    CHECK(std::abs(static_cast<long double>(pairwise_sum(values)) - exact) <= exact * 1e-15L);
  }
}

TEST_CASE("the mean of nothing is 0, of one value itself", "[numerics]") {
  CHECK(pairwise_mean({}) == 0);
  CHECK(pairwise_mean(std::vector{0.1}) == 0.1);
  CHECK(pairwise_mean(std::vector{0.1, 0.2}) == (0.1 + 0.2) / 2);
}

TEST_CASE("the median is the middle value, or the mean of the two middle ones", "[numerics]") {
  CHECK(median({3}) == 3);
  CHECK(median({4, 1}) == 2.5);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({7, 7, 1, 2}) == 4.5);
  CHECK(median({2, 2, 2, 2, 2}) == 2);
}

TEST_CASE("a quantile is the least value that a share of all do not exceed", "[numerics]") {
  std::vector<double> values{30, 10, 50, 20, 40};
  CHECK(nearest_rank(values, 0) == 10);
  CHECK(nearest_rank(values, 0.2) == 10);
  CHECK(nearest_rank(values, 0.21) == 20);
  CHECK(nearest_rank(values, 0.5) == 30);
  CHECK(nearest_rank(values, 0.9) == 50);
  CHECK(nearest_rank(values, 1) == 50);
  std::vector<double> even{4, 1, 3, 2};
  CHECK(nearest_rank(even, 0.5) == 2);
}

}  // namespace
}  // namespace pacml::env
