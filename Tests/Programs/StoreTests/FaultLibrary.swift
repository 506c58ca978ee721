import Foundation
import ProgramSupport
import TestSupport

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
