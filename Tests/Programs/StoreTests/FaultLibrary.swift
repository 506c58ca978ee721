import Foundation
import ProgramSupport
import TestSupport
import Testing

/// The library that makes the n-th system call on a folder's files fail.
enum FaultLibrary {
  /// Returns the environment that makes one call of a process fail.
  static func environment(
    _ folder: TemporaryFolder, call: Int, _ fault: Fault
  ) async throws -> [String: String?] {
    [
      "LD_PRELOAD": try await library.value, "SQ_FAULT_FOLDER": folder.path,
      "SQ_FAULT_AT": "\(call)", "SQ_FAULT_HOW": fault.rawValue,
    ]
  }

  /// Returns the environment of a disk that can only be read after one call has failed.
  static func losing(
    _ folder: TemporaryFolder, call: Int
  ) async throws -> [String: String?] {
    try await environment(folder, call: call, .broken).merging(["SQ_FAULT_HOW": "lost"]) { $1 }
  }

  /// Returns the environment of a disk that nothing can be read from, beginning with one call.
  static func unreadable(
    _ folder: TemporaryFolder, fromCall call: Int
  ) async throws -> [String: String?] {
    try await environment(folder, call: call, .broken)
      .merging(["SQ_FAULT_HOW": "unreadable"]) { $1 }
  }

  /// Returns the environment of a file system on which no file can be locked.
  static func withoutLocks(_ folder: TemporaryFolder) async throws -> [String: String?] {
    try await environment(folder, call: 1_000_000, .broken)
      .merging(["SQ_FAULT_HOW": "lockless"]) { $1 }
  }

  /// Returns the environment that makes the library print every call without faults.
  static func listing(_ folder: TemporaryFolder) async throws -> [String: String?] {
    try await environment(folder, call: -1, .broken)
  }

  // The library is built once, next to the other built programs.
  private static let library = Task {
    let library = URL(filePath: StoreProbe.executable).deletingLastPathComponent()
      .appending(path: "store-faults.so").path
    let unfinished = "\(library).\(getpid())"
    try await CCompiler.buildLibrary(from: "faults", at: unfinished)
    guard rename(unfinished, library) == 0 else {
      throw CCompilerError(message: String(cString: strerror(errno)))
    }
    return library
  }
}

/// How a call fails, as given to the library.
enum Fault: String, CaseIterable {
  /// The call fails with EIO.
  case broken
  /// A call that needs disk space fails with ENOSPC.
  case full
  /// The process is killed instead of the call.
  case kill
  /// The process is killed after half of a write.
  case torn
  /// Half of a write is done, which is not an error.
  case short

  var isDeadly: Bool { self == .kill || self == .torn }
  var isOfWrites: Bool { self == .torn || self == .short }
}

extension ChildProcess.Result {
  /// The calls that the library has printed, in order.
  var calls: [String] {
    errors.split(separator: "\n").filter { $0.hasPrefix("call: ") }.map { String($0.dropFirst(6)) }
  }
}

extension TemporaryFolder {
  /// Returns a copy of the folder with its files' modes.
  func copied() async throws -> TemporaryFolder {
    let copy = try TemporaryFolder()
    let result = try await ChildProcess.run(["cp", "-a", "\(path)/.", copy.path])
    try #require(result.status == 0, "\(result.errors)")
    return copy
  }

  /// Returns whether a file of the folder contains a text.
  ///
  /// Another process reads the files. If this process did, its stores would lose their locks.
  func contains(_ text: String) async throws -> Bool {
    try await ChildProcess.run(["grep", "-rqa", "-e", text, path]).status == 0
  }
}
