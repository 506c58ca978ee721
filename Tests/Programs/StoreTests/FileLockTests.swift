import Foundation
import ProgramSupport
import SQFiles
import SequencingOAuth
import TestSupport
import Testing

@testable import SQBasics

/// Waiting for a lock, and finding its holder.
@Suite(.timeLimit(.minutes(2))) struct FileLockTests {
  let folder: TemporaryFolder
  var path: String { folder.file("a.lock") }

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `a lock that another process keeps too long is an error that names the process`()
    async throws
  {
    let holder = try await hold()
    let error = #expect(throws: FileFailure.self) {
      try FileLock.wait(for: path, limit: .milliseconds(50))
    }
    #expect(
      error?.description
        == "process \(holder.processID) (cat) keeps \(path) locked; "
        + "the SDK waited 0.05 s for the lock")
    #expect(error?.isLocked == true)
    holder.signal(SIGKILL)
    _ = try await holder.result()
    try FileLock.wait(for: path, limit: .seconds(30)).release()
  }

  @Test func `a waiting call gets the lock when its holder is killed`() async throws {
    let holder = try await hold()
    async let lock = FileLock.wait(for: path, limit: .seconds(60))
    holder.signal(SIGKILL)
    try await lock.release()
  }

  /// Many calls of one process wait one after the other for a lock that another process keeps.
  @Test func `a call whose time limit has passed before its work begins tries once`() async throws {
    let holder = try await hold()
    let watch = try FileWatch(path)
    let start = ContinuousClock.now - .seconds(60)
    #expect(throws: FileFailure.self) {
      try BlockingQueue.$start.withValue(start) {
        try FileLock.wait(for: path, limit: .milliseconds(200))
      }
    }
    #expect(watch.countClosings() == 1)
    holder.signal(SIGKILL)
    _ = try await holder.result()
    try BlockingQueue.$start.withValue(start) { try FileLock.wait(for: path) }.release()
  }

  @Test func `waiting for a store's lock has a time limit`()
    async throws
  {
    let file = PrivateFile(path: folder.file("tokens.json"))
    let lock = try file.lock()
    let error = #expect(throws: FileFailure.self) { try file.lock(limit: .milliseconds(20)) }
    #expect(error?.description.contains("\(file.path).lock") == true)
    #expect(error?.description.contains("process \(getpid()) (") == true)
    lock.release()
    try file.lock(limit: .zero).release()
  }

  @Test func `a lock file that is missing or free has no holder`() throws {
    #expect(LockHolder.name(of: path) == nil)
    let lock = try #require(try FileLock.ifFree(path))
    #expect(LockHolder.name(of: path)?.hasPrefix("process \(getpid()) ") == true)
    lock.release()
    #expect(LockHolder.name(of: path) == nil)
  }

  static let locks: [(line: String, process: Int32?)] = [
    ("1: FLOCK  ADVISORY  WRITE 12 fe:01:77 0 EOF", 12),
    ("1: POSIX  ADVISORY  WRITE 13 fe:01:77 120 120", 13),
    ("1: FLOCK  ADVISORY  READ  14 fe:01:77 0 EOF", 14),
    ("1: POSIX  ADVISORY  READ  15 fe:01:77 8 8\n2: POSIX  ADVISORY  WRITE 16 fe:01:77 1 1", 16),
    ("1: POSIX  ADVISORY  READ  17 fe:01:77 128 128", nil),
    ("1: OFDLCK ADVISORY  WRITE -1 fe:01:77 0 EOF", nil),
    ("1: FLOCK  ADVISORY  WRITE 0 fe:01:77 0 EOF", nil),
    ("1: -> FLOCK  ADVISORY  WRITE 18 fe:01:77 0 EOF", nil),
    ("1: LEASE  ACTIVE    WRITE 19 fe:01:77 0 EOF", nil),
    ("1: FLOCK  ADVISORY  WRITE 20 fe:01:777 0 EOF", nil),
    ("1: FLOCK  ADVISORY  WRITE 21 fe:10:77 0 EOF", nil),
    ("1: FLOCK\n\n2: FLOCK  ADVISORY  WRITE 22 fe:01:77 0 EOF", 22),
    ("", nil),
  ]

  @Test(arguments: locks)
  func `the process that holds a lock is found in the kernel's list of locks`(
    _ row: (line: String, process: Int32?)
  ) {
    #expect(LockHolder.process(in: row.line, device: 0xfe01, inode: 77) == row.process)
  }

  @Test(arguments: [
    (0xfe01, "fe:01"), (0x0005, "00:05"), (0x1000_0200_0003, "1000:2003"),
  ])
  func `a device number is compared in the form of the kernel's list of locks`(
    packed: UInt64, device: String
  ) {
    let line = "1: FLOCK  ADVISORY  WRITE 12 \(device):5 0 EOF"
    #expect(LockHolder.process(in: line, device: packed, inode: 5) == 12)
  }

  /// Starts a process that holds the lock until it is killed.
  private func hold() async throws -> ChildProcess {
    let holder = try ChildProcess(
      ["flock", "--no-fork", path, "sh", "-c", "echo locked; exec cat"], input: .open)
    _ = try await holder.line(after: "locked")
    try await eventually("the shell has become cat") {
      try String(contentsOfFile: "/proc/\(holder.processID)/comm", encoding: .utf8) == "cat\n"
    }
    return holder
  }
}
