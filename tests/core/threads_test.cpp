// Executors and threads: used, not used for small work, and without influence on bits.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support.hpp"

namespace equinorm::test {
namespace {

/// Runs tasks backwards, each on a thread of its own, and counts.
class CountingExecutor final : public Executor {
 public:
  explicit CountingExecutor(int concurrency) : concurrency_(concurrency) {}
  [[nodiscard]] int concurrency() const noexcept override { return concurrency_; }
  void run(std::int64_t count, Task task, void* state) noexcept override {
    ++forks;
    tasks += count;
    for (std::int64_t i = count; i-- > 0;) std::thread([=] { task(state, i); }).join();
  }
  std::int64_t forks = 0;
  std::int64_t tasks = 0;

 private:
  int concurrency_;
};

TEST(Executor, OfTheCallerIsUsedAndGivesTheSameBits) {
  Context alone;
  ASSERT_TRUE(alone.set_threads(1).ok());
  const auto expected = all_outputs(300, 700, alone);
  for (const int concurrency : {2, 3, 7, 64}) {
    CountingExecutor executor(concurrency);
    Context context;
    context.set_executor(&executor);
    EXPECT_EQ(all_outputs(300, 700, context), expected) << concurrency;
    EXPECT_EQ(executor.forks, 4) << "two operators, two directions";
    EXPECT_GE(executor.tasks, 2 * executor.forks);
    EXPECT_LE(executor.tasks, concurrency * executor.forks);
  }
}

TEST(Executor, IsNotUsedForSmallWork) {
  CountingExecutor executor(8);
  Context context;
  context.set_executor(&executor);
  all_outputs(4, 1024, context);
  EXPECT_EQ(executor.forks, 0);
}

TEST(Executor, CanBeTakenBack) {
  CountingExecutor executor(2);
  Context context;
  context.set_executor(&executor);
  context.set_executor(nullptr);
  all_outputs(300, 700, context);
  EXPECT_EQ(executor.forks, 0);
}

TEST(Threads, DoNotChangeBits) {
  // 4200 rows are 525 blocks, so chunks of 8 blocks; 33 rows end with a block of one.
  for (const auto& [rows, cols] : {std::pair{300, 700}, {33, 5000}, {4200, 65}, {1, 100000}}) {
    Context alone;
    ASSERT_TRUE(alone.set_threads(1).ok());
    const auto expected = all_outputs(rows, cols, alone);
    for (const int threads : {2, 3, 7}) {
      Context context;
      ASSERT_TRUE(context.set_threads(threads).ok());
      EXPECT_EQ(all_outputs(rows, cols, context), expected)
          << rows << "x" << cols << " " << threads;
    }
  }
}

TEST(Context, OfEachThreadWorksBesideTheOthers) {
  Context context;
  const auto expected = all_outputs(70, 300, context);
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Context own;
      for (int k = 0; k < 5; ++k) same += all_outputs(70, 300, own) == expected;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(same, 20);
}

TEST(Context, CanBeMovedFromAndUsedAgain) {
  Context first;
  const auto expected = all_outputs(70, 300, first);
  Context second = std::move(first);
  EXPECT_EQ(all_outputs(70, 300, second), expected);
  EXPECT_EQ(all_outputs(70, 300, first), expected);
}

}  // namespace
}  // namespace equinorm::test
