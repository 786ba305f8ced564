// How every call reports success or failure. Nothing in the library throws, prints or aborts;
// check() is there for callers who prefer exceptions. OpenMP's runtime has its own mind: see
// Context::set_threads.
#pragma once

#include <stdexcept>
#include <string>

namespace equinorm {

/// Zero is success.
enum class StatusCode : int {
  ok = 0,
  invalid_argument = 1,  ///< an argument breaks its rule; outputs are untouched
  unsupported = 2,       ///< valid, but this build or machine cannot do it; outputs are untouched
  out_of_memory = 3,     ///< workspace could not be allocated; outputs are untouched
};

/// The outcome of a call. `argument` and `rule` are static text; `value` is the offending value as
/// text. A Status owns nothing and is cheap to copy.
struct [[nodiscard]] Status {
  StatusCode code = StatusCode::ok;
  const char* argument = "";  ///< offending argument, for example "gamma.size"
  const char* rule = "";      ///< what it must satisfy, for example "must equal x.cols"
  char value[48] = "";        ///< what was given, for example "5"

  [[nodiscard]] bool ok() const noexcept { return code == StatusCode::ok; }
};

/// "ok", "invalid argument", "unsupported" or "out of memory".
[[nodiscard]] const char* name_of(StatusCode code) noexcept;

/// One line: "invalid argument: eps = -1: must be finite and at least 0".
[[nodiscard]] std::string describe(const Status& status);

/// Thrown by check().
class Error : public std::runtime_error {
 public:
  explicit Error(const Status& status) : std::runtime_error(describe(status)), status_(status) {}
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 private:
  Status status_;
};

/// Throws Error unless `status` is success.
inline void check(const Status& status) {
  if (!status.ok()) throw Error(status);
}

}  // namespace equinorm
