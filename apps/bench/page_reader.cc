#include "apps/bench/page_reader.h"

#include <array>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <iterator>
#include <string>

#include "common/asio.h"
#include "common/clock.h"

namespace pacml::apps {
namespace {

namespace http = boost::beast::http;
using namespace std::chrono_literals;

constexpr std::chrono::seconds kPagePatience{10};

struct Page {
  const char* target;
  std::chrono::milliseconds every;
};
// As apps/dashboard/page/page.js asks, and Prometheus by deploy/prometheus.
constexpr Page kPages[] = {
    {"/dashboard/runs", 2000ms}, {"/dashboard/curves/0", 4000ms}, {"/metrics", 5000ms}};

}  // namespace

PageReader::PageReader(int port)
    : port_(port), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void PageReader::watch(const std::stop_token& stop) {
  std::array<TimePoint, std::size(kPages)> next{};
  while (!stop.stop_requested()) {
    for (std::size_t i = 0; i < next.size(); ++i) {
      const TimePoint now = steady().now();
      if (now < next[i]) continue;
      next[i] = now + kPages[i].every;
      get(kPages[i].target);
    }
    std::this_thread::sleep_for(50ms);
  }
}

void PageReader::get(const std::string& target) {
  asio::io_context io;
  boost::beast::tcp_stream stream(io);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> answer;
  answer.body_limit(std::uint64_t{64} << 20);
  http::request<http::empty_body> request(http::verb::get, target, 11);
  request.set(http::field::host, "localhost");
  boost::system::error_code outcome;
  stream.expires_after(kPagePatience);
  stream.async_connect({asio::ip::address_v4::loopback(), static_cast<unsigned short>(port_)},
                       [&](auto error) {
                         outcome = error;
                         if (error) return;
                         http::async_write(stream, request, [&](auto unsent, std::size_t) {
                           outcome = unsent;
                           if (unsent) return;
                           http::async_read(stream, buffer, answer,
                                            [&](auto unheard, std::size_t) { outcome = unheard; });
                         });
                       });
  io.run();
  const bool whole = !outcome && answer.get().result() == http::status::ok;
  ++(whole ? read_ : failed_);
}

}  // namespace pacml::apps
