// What the lab throws, with the exit code that the command line turns it into.
#pragma once

#include <stdexcept>
#include <string>

namespace equinorm::lab {

class LabError : public std::runtime_error {
 public:
  LabError(int exit_code, const std::string& message)
      : std::runtime_error(message), exit_code_(exit_code) {}
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// A setting breaks its rule: exit code 2.
class UsageError : public LabError {
 public:
  explicit UsageError(const std::string& message) : LabError(2, message) {}
};

/// Data is missing, damaged or unreadable, or output can't be written: exit code 3.
class InputError : public LabError {
 public:
  explicit InputError(const std::string& message) : LabError(3, message) {}
};

}  // namespace equinorm::lab
