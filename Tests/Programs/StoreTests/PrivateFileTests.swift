import Foundation
import SQFiles
import SequencingOAuth
import TestSupport
import Testing

/// What a store does if the system cannot answer.
@Suite struct PrivateFileTests {
  @Test func `a file that cannot be looked for is an error and not a missing file`() throws {
    let folder = try TemporaryFolder()
    #expect(try !PrivateFile(path: folder.file("missing")).exists())
    #expect(try PrivateFile(path: folder.path).exists())
    let loop = folder.file("loop")
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: "loop")
    let error = #expect(throws: FileFailure.self) { try PrivateFile(path: loop + "/a").exists() }
    #expect(error?.code == ELOOP)
    let copies = WriteAheadCopies(store: loop + "/tokens")
    failure(.storeFailed) { try copies.has("a", nil) }
    failure(.storeFailed) { try copies.hasStore() }
  }

  /// No folder of procfs can be synced, as on some file systems of virtual machines.
  @Test func `a file system that cannot sync a folder is no error`() throws {
    let folder = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(folder) }
    try #require(fsync(folder) == -1 && errno == EINVAL)
    try PrivateFile(path: "/proc/self/name").syncFolder()
  }
}
