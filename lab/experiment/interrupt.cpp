#include "lab/experiment/interrupt.hpp"

#include <array>
#include <csignal>
#include <cstddef>

namespace equinorm::lab {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> interrupt_count{0};
std::atomic<bool> interrupt_requested{false};
std::array<struct sigaction, kSignals.size()> previous_actions;

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "signal handlers may only touch lock-free atomics");

void count_interrupt(int) {
  interrupt_count.fetch_add(1);
  interrupt_requested.store(true);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_count = 0;
  interrupt_requested = false;
  struct sigaction action = {};
  action.sa_handler = count_interrupt;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &previous_actions[i]);
    if (previous_actions[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &previous_actions[i], nullptr);
  }
}

const std::atomic<int>& InterruptGuard::count() noexcept { return interrupt_count; }
const std::atomic<bool>& InterruptGuard::requested() noexcept { return interrupt_requested; }

}  // namespace equinorm::lab
