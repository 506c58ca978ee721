import Foundation
import TestSupport
import Testing

@testable import SQBasics

/// Descriptors in a process that has closed its standard streams.
///
/// Each test runs in its own process, because all threads share the streams.
@Suite(.timeLimit(.minutes(1))) struct DescriptorNumberTests {
  @Test(.ownThreads)
  func `a descriptor with a standard stream's number is moved to a higher number`() async {
    await #expect(processExitsWith: .success) {
      for number in STDIN_FILENO...STDERR_FILENO { close(number) }
      let file = open("/dev/null", O_RDONLY)
      try #require(file == STDIN_FILENO)
      let moved = DescriptorNumber.aboveStandard(file)
      #expect(moved > STDERR_FILENO && fcntl(moved, F_GETFD) == FD_CLOEXEC)
      #expect(fcntl(file, F_GETFD) == -1)
      #expect(DescriptorNumber.aboveStandard(moved) == moved)
      #expect(DescriptorNumber.aboveStandard(-1) == -1)
    }
  }

  @Test(.ownThreads)
  func `a descriptor for which no other number is free is closed, and errno says why`()
    async
  {
    await #expect(processExitsWith: .success) {
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var limit = rlimit()
      try #require(getrlimit(kind, &limit) == 0)
      close(STDIN_FILENO)
      let file = open("/dev/null", O_RDONLY)
      try #require(file == STDIN_FILENO)
      var low = rlimit(rlim_cur: 1, rlim_max: limit.rlim_max)
      try #require(setrlimit(kind, &low) == 0)
      let moved = DescriptorNumber.aboveStandard(file)
      let reason = errno
      try #require(setrlimit(kind, &limit) == 0)
      // fcntl(2) reports EINVAL for a number above the limit.
      #expect(moved == -1 && reason == EINVAL)
      #expect(fcntl(file, F_GETFD) == -1)
    }
  }

  @Test(.ownThreads, arguments: [(4, 1), (64, 8), (1024, 128), (4096, 128)])
  func `the SDK keeps at most an eighth of the descriptors that the process may have`(
    limit: Int, budget: Int
  ) async {
    await #expect(processExitsWith: .success) { [limit = limit as Int, budget = budget as Int] in
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var own = rlimit(rlim_cur: rlim_t(limit), rlim_max: 4096)
      try #require(setrlimit(kind, &own) == 0)
      let kept = DescriptorNumber.budget(atMost: 128)
      own.rlim_cur = 4096
      try #require(setrlimit(kind, &own) == 0)
      #expect(kept == budget)
    }
  }

  @Test(.ownThreads) func `pollers leave the numbers of the standard streams free`() async {
    await #expect(processExitsWith: .success) {
      for number in STDIN_FILENO...STDERR_FILENO { close(number) }
      let pollers: [any SocketPoller] = [try EpollPoller(), try PollPoller()]
      let taken = (STDIN_FILENO...STDERR_FILENO).compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }
      // Dispatch opens a file of /proc for a moment now and then.
      #expect(taken.allSatisfy { $0.hasPrefix("/proc/") }, "\(taken)")
      for poller in pollers { #expect(poller.wakeUpDescriptor > STDERR_FILENO) }
    }
  }
}
