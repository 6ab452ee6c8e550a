#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pacml::testing {

// A host of a VirtualNetwork: a network namespace with one address of its own. Everything here is
// in effect when it returns. Throws std::runtime_error with what the system says. Thread-confined.
class VirtualHost {
 public:
  // Use VirtualNetwork::add_host().
  VirtualHost(std::string name, std::string switch_name, int number);
  VirtualHost(const VirtualHost&) = delete;
  VirtualHost& operator=(const VirtualHost&) = delete;
  ~VirtualHost();

  [[nodiscard]] const std::string& address() const { return address_; }  // "10.77.0.1"
  [[nodiscard]] std::string tcp(int port) const;                         // "tcp://10.77.0.1:5555"
  // The words before a command that make it run there, in the process that they start.
  [[nodiscard]] std::vector<std::string> launcher() const;
  // Moves the thread that calls it there, for the sockets that it makes from then on.
  [[nodiscard]] std::function<void()> entrance() const;

  // Pulls the cable: what is sent is gone, and nobody is told.
  void unplug();
  void plug_in();
  // Of what it sends and of what it is sent, each.
  void limit_rate(int megabits_per_second);
  // Drops so many of the packets that come in, at random.
  void lose(int percent);

 private:
  std::string name_, switch_name_, port_, address_;
};

// Hosts with addresses of their own on this machine, plugged into one switch, which is a namespace
// as well: they reach one another, and nothing else does. All of it goes with its owner; what a
// killed process left is swept up by the next one. Thread-confined.
class VirtualNetwork {
 public:
  // Why there can be none here, as a sentence; empty: there can.
  [[nodiscard]] static std::string obstacle();

  VirtualNetwork();
  VirtualNetwork(const VirtualNetwork&) = delete;
  VirtualNetwork& operator=(const VirtualNetwork&) = delete;
  ~VirtualNetwork();

  // Lives as long as the network. At most 200.
  VirtualHost& add_host();

 private:
  std::string switch_name_;
  std::vector<std::unique_ptr<VirtualHost>> hosts_;
};

}  // namespace pacml::testing
