import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The sockets that the HTTP client waits for.
@Suite struct SocketTableTests {
  private final class Handler: EventHandler {
    func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) {}
    func timeIsDue() {}
    func isCalled() {}
    func loopHasFailed() {}
  }

  /// epoll(7) cannot watch an ordinary file, so a file stands for a socket that cannot be watched.
  @Test func `a socket that the system cannot watch is tried again until it is not wanted`() throws
  {
    let folder = try TemporaryFolder()
    let path = folder.file("file")
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    let loop = try EventLoop(EpollPoller())
    defer { loop.end() }
    var table = SocketTable(loop)
    table.opened(file)
    // libcurl's CURL_POLL_IN.
    table.watch(file, 1)
    for _ in 0..<2 {
      table.applyChanges(for: Handler())
      #expect(table.unwatched == [file] && table.isWanted(file))
    }
    table.closed(file)
    table.applyChanges(for: Handler())
    #expect(table.unwatched.isEmpty && !table.isWanted(file))
  }
}
