#include "apps/bench/encryption_bench.h"

#include <algorithm>
#include <map>

#include "apps/bench/pipeline_bench.h"
#include "common/asio.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

// The learner's two ports, and those of a few shards.
constexpr int kPorts = 6;
constexpr int kAttempts = 50;

// The first of some ports in a row that are free, a moment ago.
int free_ports() {
  using asio::ip::tcp;
  asio::io_context io;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const tcp::acceptor any(io, {asio::ip::address_v4::loopback(), 0});
    const int first = any.local_endpoint().port();
    bool all = first + kPorts <= 65535;
    for (int port = first + 1; all && port < first + kPorts; ++port) {
      tcp::acceptor next(io, tcp::v4());
      boost::system::error_code taken;
      next.bind({asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)}, taken);
      all = !taken;
    }
    if (all) return first;
  }
  throw UserError("no free ports were found on 127.0.0.1");
}

double figure(const bench::Figures& figures, const std::string& name) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found->second;
}

}  // namespace

bench::Figures run_encryption_bench(const std::vector<std::string>& train_arguments,
                                    const std::string& keys, double seconds, int rounds) {
  struct Measured {
    std::vector<double> rate, cpu, transport;
  };
  std::map<bool, Measured> all;  // by whether it was encrypted
  const auto measure = [&](bool encrypted) {
    auto arguments = train_arguments;
    arguments.insert(arguments.end(),
                     {"--bind", "tcp://127.0.0.1:" + std::to_string(free_ports())});
    if (encrypted) arguments.insert(arguments.end(), {"--keys", keys});
    const auto figures = run_pipeline_bench(arguments, seconds);
    all[encrypted].rate.push_back(figure(figures, "decisions_per_second"));
    all[encrypted].cpu.push_back(figure(figures, "cpu_seconds_per_decision"));
    all[encrypted].transport.push_back(figure(figures, "transport_cpu_seconds_per_decision"));
  };
  std::vector<double> rate_ratios;
  std::vector<double> cpu_ratios;
  for (int round = 0; round < rounds; ++round) {
    const bool encrypted_first = round % 2 == 1;
    measure(encrypted_first);
    measure(!encrypted_first);
    rate_ratios.push_back(all[true].rate.back() / all[false].rate.back());
    cpu_ratios.push_back(all[true].cpu.back() / all[false].cpu.back());
  }
  const double clear_cpu = bench::median_of(all[false].cpu);
  const double clear_transport = bench::median_of(all[false].transport);
  const double encrypted_transport = bench::median_of(all[true].transport);
  return {{"clear_decisions_per_second", bench::median_of(all[false].rate)},
          {"encrypted_decisions_per_second", bench::median_of(all[true].rate)},
          {"clear_cpu_seconds_per_decision", clear_cpu},
          {"encrypted_cpu_seconds_per_decision", bench::median_of(all[true].cpu)},
          {"clear_transport_cpu_seconds_per_decision", clear_transport},
          {"encrypted_transport_cpu_seconds_per_decision", encrypted_transport},
          {"decisions_ratio", bench::median_of(rate_ratios)},
          {"cpu_ratio", bench::median_of(cpu_ratios)},
          {"transport_overhead", (encrypted_transport - clear_transport) / clear_cpu}};
}

}  // namespace pacml::apps
