import Foundation

/// A pipe whose ends a child inherits only as its standard descriptors.
package struct ChildPipe {
  package let readEnd: Int32
  package let writeEnd: Int32

  package init() throws {
    // The pipe has a name, because Swift's Glibc module lacks pipe2. With pipe, a child that
    // another test starts at the same moment would inherit the ends.
    let path = FileManager.default.temporaryDirectory.appending(
      path: "sq-test-\(UUID().uuidString)"
    ).path
    guard mkfifo(path, 0o600) == 0 else { throw Self.failure() }
    defer { unlink(path) }
    // Without O_NONBLOCK, open would wait for a writer.
    readEnd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard readEnd >= 0 else { throw Self.failure() }
    writeEnd = open(path, O_WRONLY | O_CLOEXEC)
    guard writeEnd >= 0, fcntl(readEnd, F_SETFL, 0) == 0 else { throw Self.failure() }
  }

  private static func failure() -> SystemCallFailed {
    SystemCallFailed(message: "no pipe: \(String(cString: strerror(errno)))")
  }
}
