#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The facts that the system keeps about a file besides its content, such as owner, mode and size.
///
/// - SeeAlso: inode(7)
package struct FileStatus: Sendable {
  /// Whether this is an ordinary file: no folder, link, pipe, socket or device.
  package let isRegular: Bool
  /// Whether this is a device that takes bytes, such as `/dev/null`.
  let isDevice: Bool
  let owner: UInt32
  /// The permissions alone, without the kind of the file.
  let mode: UInt32
  package let size: Int64
  /// The number of the file's names, also called hard links.
  private let links: UInt64
  /// The time at which the content last changed, in seconds since 1970.
  private let modified: Int
  private let device: UInt64
  private let inode: UInt64

  /// Reads the status of the file at a path, or of a link itself; `nil` if there is none.
  package init?(at path: String) throws(FileFailure) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw FileFailure(call: "lstat") }
      return nil
    }
    self.init(status)
  }

  /// Takes the status from the result of a system call.
  init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    isDevice = status.st_mode & S_IFMT == S_IFCHR
    owner = UInt32(status.st_uid)
    mode = UInt32(status.st_mode) & 0o7777
    size = Int64(status.st_size)
    #if os(Linux)
      modified = status.st_mtim.tv_sec
    #else
      modified = status.st_mtimespec.tv_sec
    #endif
    links = UInt64(status.st_nlink)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// Makes a status for a test.
  package init(isRegular: Bool = true, owner: UInt32, mode: UInt32, size: Int64 = 0) {
    self.isRegular = isRegular
    isDevice = false
    self.owner = owner
    self.mode = mode
    self.size = size
    links = 1
    modified = 0
    device = 0
    inode = 0
  }

  /// Whether this is an ordinary file that belongs to this user and has only one name.
  package var isOwn: Bool { isRegular && owner == geteuid() && links == 1 }

  /// Whether its permissions let only the owner use it.
  package var isClosedToOthers: Bool { mode & 0o077 == 0 }

  /// How many seconds ago the content last changed.
  package var age: Int { time(nil) - modified }

  /// Whether both belong to one file, even under different names.
  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}
