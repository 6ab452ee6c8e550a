#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "common/asio.h"
//
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include "tests/support/catch.h"
#include "tests/support/soon.h"

// Clients of an HTTP server, as simple as curl and netcat are. Nothing waits for ever.

namespace pacml::testing {

namespace http = boost::beast::http;
using HttpAnswer = http::response<http::string_body>;

// One connection. Addresses are "127.0.0.1:9100".
class HttpClient {
 public:
  explicit HttpClient(const std::string& address) : stream_(io_) {
    const auto colon = address.rfind(':');
    REQUIRE(colon != std::string::npos);
    const asio::ip::tcp::endpoint server(
        asio::ip::make_address(address.substr(0, colon)),
        static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    REQUIRE(finish([&](auto done) { stream_.async_connect(server, done); }));
  }

  // Bytes as they are; false: the server has closed the connection.
  bool say(const std::string& bytes) {
    return finish([&](auto done) {
      asio::async_write(stream_, asio::buffer(bytes),
                        [done](const auto& error, std::size_t) { done(error); });
    });
  }
  // The next answer; none: the connection was closed before it was whole. `head`: to HEAD.
  std::optional<HttpAnswer> hear(bool head = false) {
    http::response_parser<http::string_body> parser;
    parser.skip(head);
    parser.body_limit(std::size_t{128} << 20);
    const bool whole = finish([&](auto done) {
      http::async_read(stream_, buffer_, parser,
                       [done](const auto& error, std::size_t) { done(error); });
    });
    if (!whole) return std::nullopt;
    return parser.release();
  }
  // Whether the server closes the connection; what it says until then is passed over.
  bool is_closed_soon() {
    char byte = 0;
    while (finish([&](auto done) {
      stream_.async_read_some(asio::buffer(&byte, 1),
                              [done](const auto& error, std::size_t) { done(error); });
    })) {
    }
    return !timed_out_;
  }
  HttpAnswer ask(const std::string& method, const std::string& target,
                 const std::string& headers = {}, const std::string& body = {}) {
    // Whether all of it is taken is for the answer to say.
    say(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body);
    auto answer = hear(method == "HEAD");
    REQUIRE(answer);
    return *std::move(answer);
  }
  HttpAnswer get(const std::string& target, const std::string& headers = {}) {
    return ask("GET", target, headers);
  }

 private:
  template <class Operation>
  bool finish(Operation operation) {
    boost::system::error_code outcome = asio::error::would_block;
    stream_.expires_at(soon().at());
    operation([&outcome](const boost::system::error_code& error) { outcome = error; });
    io_.restart();
    io_.run();
    timed_out_ = outcome == boost::beast::error::timeout;
    return !outcome;
  }

  asio::io_context io_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  bool timed_out_ = false;
};

// One request over a connection of its own.
inline HttpAnswer http_get(const std::string& address, const std::string& target,
                           const std::string& headers = {}) {
  return HttpClient(address).get(target, headers);
}

inline std::string bearer(const std::string& token) {
  return "Authorization: Bearer " + token + "\r\n";
}

}  // namespace pacml::testing
