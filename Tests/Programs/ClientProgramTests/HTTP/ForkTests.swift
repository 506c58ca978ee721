import Foundation
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// A process that forks, or closes the SDK's descriptors, after the first request.
///
/// Each test runs in its own process.
@Suite(.timeLimit(.minutes(3))) struct ForkTests {
  /// Calls fork(2), which Swift does not import.
  private static func fork() throws -> pid_t {
    let symbol = try #require(dlsym(dlopen(nil, RTLD_NOW), "fork"))
    return unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
  }

  /// Returns the numbers of the open descriptors.
  private static func descriptors() -> Set<Int32> {
    Set((0..<1024).filter { fcntl($0, F_GETFD) >= 0 })
  }

  /// Returns how a child ended, in the form of waitpid(2); kills a child that does not end.
  private static func end(of child: pid_t) async throws -> Int32 {
    var status: Int32 = 0
    do {
      try await eventually("the copy ends") { waitpid(child, &status, WNOHANG) == child }
    } catch {
      kill(child, SIGKILL)
      waitpid(child, &status, 0)
      throw error
    }
    return status
  }

  /// A means to block a thread: the event loop's thread, or a thread that holds a lock.
  private final class Hold: EventHandler {
    let hasBegun = OneShot<Void>()
    private let mayEnd = DispatchSemaphore(value: 0)

    func isCalled() { wait() }

    func wait() {
      hasBegun.resolve(())
      mayEnd.wait()
    }

    func end() { mayEnd.signal() }
  }

  @Test(.ownThreads)
  func `a process forked after the first request gets an error for its request and can exit`()
    async
  {
    await #expect(processExitsWith: .success) {
      let server = try Server { _, _ in .response(LoopbackResponse(status: 200)) }
      let client = CurlTransport()
      #expect(try await client.send(try server.request()).status == 200)
      let curl = try CurlEventLoop.shared.get()
      let loop = try #require(EventLoop.shared)
      // Other threads hold the locks that the exit handlers take.
      let (inLoop, inCurl) = (Hold(), Hold())
      defer {
        inLoop.end()
        inCurl.end()
      }
      loop.callSoon(inLoop)
      try #require(Threads.start { curl.multi.withLock { _ in inCurl.wait() } })
      await inLoop.hasBegun.wait()
      await inCurl.hasBegun.wait()
      let request = try server.request()
      let child = try ForkTests.fork()
      if child == 0 {
        // In the child, only this thread exists, so nothing below may wait for another thread.
        do throws(SQOAuthError) {
          _ = try await client.send(request)
          exit(1)
        } catch {
          let isPlain = error.message.contains("forked after the SDK's first call")
          exit(isPlain && EventLoop.shared == nil ? 0 : 2)
        }
      }
      #expect(try await ForkTests.end(of: child) == 0)
      inLoop.end()
      inCurl.end()
      #expect(try await client.send(try server.request()).status == 200)
    }
  }

  @Test(.ownThreads) func `a signal that the parent process handles ends a forked child`() async {
    await #expect(processExitsWith: .success) {
      let signals = TerminationSignals { _ in }
      defer { signals.stop() }
      let child = try ForkTests.fork()
      if child == 0 {
        // This thread may have blocked the signal, so the child unblocks all signals.
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
        while true { pause() }
      }
      kill(child, SIGTERM)
      #expect(try await ForkTests.end(of: child) == SIGTERM)
    }
  }

  @Test(.ownThreads)
  func `requests fail with a reason after the app has closed the SDK's file descriptors`()
    async
  {
    await #expect(processExitsWith: .success) {
      let hasRequest = OneShot<Void>()
      let server = try Server { request, _ in
        guard request.path == "/slow" else { return .response(LoopbackResponse(status: 200)) }
        hasRequest.resolve(())
        return .script([.wait(.seconds(3600))])
      }
      let before = ForkTests.descriptors()
      let client = CurlTransport()
      let curl = try CurlEventLoop.shared.get()
      let opened = ForkTests.descriptors().subtracting(before)
      let slow = Task { try await client.send(try server.request("GET", "/slow")) }
      await hasRequest.wait()
      try await eventually("the loop sleeps") { curl.loop.state.withLock { $0.sleepsUntil > 0 } }
      try #require(opened.contains(curl.loop.poller.wakeUpDescriptor))
      for number in opened { close(number) }
      // The next request finds that it cannot wake the loop.
      for _ in 0..<2 {
        let error = await failure(.connectionFailed) {
          try await client.send(try server.request())
        }
        #expect(error?.message.contains("closefrom") == true, "\(error?.message ?? "")")
      }
      await failure(.connectionFailed) { try await slow.value }
    }
  }
}
