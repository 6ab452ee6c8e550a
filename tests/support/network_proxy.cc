#include "tests/support/network_proxy.h"

#include <algorithm>
#include <array>
#include <deque>
#include <future>
#include <set>
#include <thread>
#include <utility>

#include "common/clock.h"

namespace pacml::testing {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kChunk = std::size_t{16} << 10;
constexpr std::size_t kMostHeld = std::size_t{4} << 20;  // bytes

TimePoint now() { return std::chrono::steady_clock::now(); }

// What all connections of a proxy obey.
struct Network {
  enum class State { kWhole, kPartitioned, kCut };
  State state = State::kWhole;
  NetworkProxy::Manner manner;
  NetworkProxy::Traffic traffic;
};

// One direction of a connection. Ends when its sender has, and all of it has been carried.
class Pipe {
 public:
  Pipe(Network& network, tcp::socket& from, tcp::socket& to, std::function<void()> ended)
      : network_(&network),
        from_(&from),
        to_(&to),
        timer_(from.get_executor()),
        ended_(std::move(ended)) {}

  // Does what can be done now. `owner` keeps this alive until the last of it is finished.
  void go_on(const std::shared_ptr<void>& owner) {
    read(owner);
    write(owner);
  }
  void close() { timer_.cancel(); }

 private:
  struct Chunk {
    TimePoint due;
    std::vector<char> bytes;  // none: the end
  };

  void read(const std::shared_ptr<void>& owner) {
    if (reading_ || finished_ || held_bytes_ >= kMostHeld) return;
    reading_ = true;
    from_->async_read_some(
        asio::buffer(buffer_), [this, owner](const error_code& error, std::size_t size) {
          reading_ = false;
          finished_ = static_cast<bool>(error);
          held_.push_back({now() + network_->manner.latency,
                           {buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(size)}});
          held_bytes_ += size;
          go_on(owner);
        });
  }

  void write(const std::shared_ptr<void>& owner) {
    if (writing_ || held_.empty() || network_->state != Network::State::kWhole) return;
    writing_ = true;
    timer_.expires_at(std::max(held_.front().due, free_at_));
    timer_.async_wait([this, owner](const error_code&) {
      writing_ = false;
      if (network_->state == Network::State::kWhole) carry(owner);
    });
  }

  void carry(const std::shared_ptr<void>& owner) {
    const std::vector<char>& bytes = held_.front().bytes;
    if (bytes.empty()) return ended_();
    if (const auto rate = network_->manner.bytes_per_second; rate > 0) {
      const std::chrono::duration<double> time(static_cast<double>(bytes.size()) /
                                               static_cast<double>(rate));
      free_at_ = std::max(now(), free_at_) + std::chrono::duration_cast<Duration>(time);
    }
    network_->traffic.bytes += bytes.size();
    writing_ = true;
    boost::asio::async_write(*to_, asio::buffer(bytes),
                             [this, owner](const error_code& error, std::size_t size) {
                               writing_ = false;
                               if (error) return abandon();
                               held_bytes_ -= size;
                               held_.pop_front();
                               go_on(owner);
                             });
  }

  // Nobody takes it any more. What comes the other way was said before, and still arrives; its end
  // is the end of the connection.
  void abandon() {
    finished_ = true;
    held_.clear();
  }

  Network* network_;
  tcp::socket* from_;
  tcp::socket* to_;
  asio::steady_timer timer_;
  std::function<void()> ended_;
  std::array<char, kChunk> buffer_{};
  std::deque<Chunk> held_;
  std::size_t held_bytes_ = 0;
  TimePoint free_at_;  // the rate allows the next chunk
  bool reading_ = false;
  bool writing_ = false;
  bool finished_ = false;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Network& network, tcp::socket near, const TcpAddress& to)
      : network_(&network),
        near_(std::move(near)),
        far_(near_.get_executor()),
        to_(to),
        forth_(network, near_, far_, [this] { close(); }),
        back_(network, far_, near_, [this] { close(); }) {}

  [[nodiscard]] bool is_open() const { return near_.is_open(); }

  void go_on() {
    if (network_->state != Network::State::kWhole || !is_open()) return;
    if (state_ == State::kNew) return connect();
    if (state_ == State::kConnected) carry();
  }

  void close() {
    error_code ignored;
    for (tcp::socket* socket : {&near_, &far_}) socket->close(ignored);
    for (Pipe* pipe : {&forth_, &back_}) pipe->close();
  }

 private:
  enum class State { kNew, kConnecting, kConnected };

  void connect() {
    state_ = State::kConnecting;
    far_.async_connect(to_, [this, self = shared_from_this()](const error_code& error) {
      if (error || !is_open()) return close();
      state_ = State::kConnected;
      error_code ignored;
      for (tcp::socket* socket : {&near_, &far_}) {
        socket->set_option(tcp::no_delay(true), ignored);
      }
      carry();
    });
  }

  void carry() {
    forth_.go_on(shared_from_this());
    back_.go_on(shared_from_this());
  }

  Network* network_;
  tcp::socket near_, far_;
  TcpAddress to_;
  Pipe forth_, back_;
  State state_ = State::kNew;
};

// Accepts at one address. While the network is cut the port stays ours, but nobody listens there.
class Entrance {
 public:
  Entrance(asio::io_context& io, const NetworkProxy::Forward& forward)
      : forward_(forward), acceptor_(io) {
    take_port();
    forward_.listen = acceptor_.local_endpoint();
  }

  [[nodiscard]] TcpAddress address() const { return forward_.listen; }

  void open(Network& network, std::set<std::shared_ptr<Connection>>& connections) {
    acceptor_.listen();
    accept(network, connections);
  }
  void refuse() {
    acceptor_.close();
    take_port();
  }

 private:
  void take_port() {
    acceptor_.open(forward_.listen.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(forward_.listen);
  }
  void accept(Network& network, std::set<std::shared_ptr<Connection>>& connections) {
    acceptor_.async_accept([&](const error_code& error, tcp::socket socket) {
      if (error) return;  // closed
      ++network.traffic.connections;
      std::erase_if(connections, [](const auto& connection) { return !connection->is_open(); });
      auto connection = std::make_shared<Connection>(network, std::move(socket), forward_.to);
      connections.insert(connection);
      connection->go_on();
      accept(network, connections);
    });
  }

  NetworkProxy::Forward forward_;
  tcp::acceptor acceptor_;
};

}  // namespace

class NetworkProxy::Impl {
 public:
  Impl(const std::vector<Forward>& forwards, const std::function<void()>& enter) {
    std::promise<void> ready;
    thread_ = std::thread([&] {
      try {
        if (enter) enter();
        for (const Forward& forward : forwards) {
          entrances_.push_back(std::make_unique<Entrance>(io_, forward));
          entrances_.back()->open(network_, connections_);
        }
      } catch (...) {
        return ready.set_exception(std::current_exception());
      }
      ready.set_value();
      io_.run();
    });
    try {
      ready.get_future().get();
    } catch (...) {
      thread_.join();
      throw;
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    io_.stop();
    thread_.join();
  }

  // Runs `command` on the proxy's thread and waits for it.
  template <class Command>
  auto run(Command command) {
    std::packaged_task<decltype(command())()> task(std::move(command));
    auto result = task.get_future();
    boost::asio::post(io_, [&task] { task(); });
    return result.get();
  }

  void enter_state(Network::State state) {
    const Network::State former = std::exchange(network_.state, state);
    if (state == Network::State::kCut && former != Network::State::kCut) {
      for (auto& entrance : entrances_) entrance->refuse();
      for (const auto& connection : connections_) connection->close();
      connections_.clear();
    }
    if (state != Network::State::kCut && former == Network::State::kCut) {
      for (auto& entrance : entrances_) entrance->open(network_, connections_);
    }
    for (const auto& connection : connections_) connection->go_on();
  }

  [[nodiscard]] Network& network() { return network_; }
  [[nodiscard]] TcpAddress address(std::size_t forward) const {
    return entrances_.at(forward)->address();
  }

 private:
  asio::io_context io_;
  // The thread stays while nobody is connected and nobody can.
  asio::executor_work_guard<asio::io_context::executor_type> stay_{io_.get_executor()};
  Network network_;
  std::set<std::shared_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Entrance>> entrances_;
  std::thread thread_;
};

TcpAddress tcp_address(const std::string& host, int port) {
  return {asio::ip::make_address(host), static_cast<unsigned short>(port)};
}

NetworkProxy::NetworkProxy(const std::vector<Forward>& forwards, const std::function<void()>& enter)
    : impl_(std::make_unique<Impl>(forwards, enter)) {}

NetworkProxy::~NetworkProxy() = default;

void NetworkProxy::set_manner(const Manner& manner) {
  impl_->run([&] { impl_->network().manner = manner; });
}

void NetworkProxy::partition() {
  impl_->run([this] { impl_->enter_state(Network::State::kPartitioned); });
}

void NetworkProxy::cut() {
  impl_->run([this] { impl_->enter_state(Network::State::kCut); });
}

void NetworkProxy::heal() {
  impl_->run([this] { impl_->enter_state(Network::State::kWhole); });
}

TcpAddress NetworkProxy::address(std::size_t forward) const { return impl_->address(forward); }

NetworkProxy::Traffic NetworkProxy::traffic() const {
  return impl_->run([this] { return impl_->network().traffic; });
}

}  // namespace pacml::testing
